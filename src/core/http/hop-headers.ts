// Which header fields belong to one connection only and are therefore never passed on, in either
// direction (RFC 9110 §7.6.1). Works on the raw list, because only it still has every repeat,
// every name and the order; a parsed header object has already lost some of them.

/** Header fields as they stood on the wire: name, value, name, value … */
export type RawHeaders = readonly string[];

/** Fields of the connection by their names alone, in lower case. */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** Naming one of these in `Connection` has no effect: framing and routing are not to be dropped. */
const NEVER_NOMINATED: ReadonlySet<string> = new Set([
  'cache-control',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'set-cookie',
  'trailer',
  'via',
]);

/** Trailer fields that would change framing, routing or authority if a reader merged them. */
const NEVER_TRAILERS: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'authorization',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'set-cookie',
  'trailer',
  'via',
]);

/** Calls `visit` with the lower-cased name, the value and the name as written, field by field. */
export function visitFields(
  raw: RawHeaders,
  visit: (name: string, value: string, nameAsWritten: string) => void,
): void {
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const nameAsWritten = raw[index] ?? '';
    visit(nameAsWritten.toLowerCase(), raw[index + 1] ?? '', nameAsWritten);
  }
}

/** Every value of one field, in order; `name` is lower case. */
export function fieldValues(raw: RawHeaders, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const written = raw[index] ?? '';
    // Most fields are told by the length of their name.
    if (written.length !== name.length || written.toLowerCase() !== name) continue;
    values.push(raw[index + 1] ?? '');
  }
  return values;
}

/** The members of a comma-separated field over all its lines, trimmed, empty ones left out. */
export function listMembers(values: readonly string[]): string[] {
  return values
    .flatMap((value) => value.split(','))
    .map((member) => member.trim())
    .filter((member) => member !== '');
}

/** Lower-case names that `Connection` makes fields of the connection; null: none. */
export function nominatedNames(raw: RawHeaders): ReadonlySet<string> | null {
  const connection = fieldValues(raw, 'connection');
  // Nearly always it says nothing, or names what is one anyway.
  if (connection.every((value) => value.toLowerCase() === 'keep-alive')) return null;
  const names = listMembers(connection).map((member) => member.toLowerCase());
  return new Set(names.filter((name) => !NEVER_NOMINATED.has(name)));
}

/**
 * Lower-case names of the fields that must not be passed on: the hop-by-hop ones and those that
 * `Connection` nominates.
 */
export function hopNames(raw: RawHeaders): ReadonlySet<string> {
  const nominated = nominatedNames(raw);
  return nominated === null ? HOP_BY_HOP : new Set([...HOP_BY_HOP, ...nominated]);
}

/** Trailer fields that may be passed on, as name–value pairs. */
export function forwardableTrailers(raw: RawHeaders): [string, string][] {
  const trailers: [string, string][] = [];
  visitFields(raw, (name, value, nameAsWritten) => {
    if (!NEVER_TRAILERS.has(name) && !name.startsWith('x-forwarded-')) {
      trailers.push([nameAsWritten, value]);
    }
  });
  return trailers;
}
