// Cache-Control as a list of directives. Never throws: a malformed directive keeps its name, so
// that a damaged `private=` still forbids (RFC 9111 §5.2; case D27).

export interface CacheDirective {
  /** Lower case. */
  readonly name: string;
  /** The argument without its quotes; null when there is none. */
  readonly argument: string | null;
  /** The argument read as a list of field names, lower case. */
  readonly fields: readonly string[];
  /** false: a quote is never closed, so nobody knows where the argument ends. */
  readonly isWhole: boolean;
}

/** One directive: a name, then an argument, quoted (perhaps without its end) or bare. */
const DIRECTIVE = /([^\s,="]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)("|$)|([^,]*)))?[^,]*/g;

/** Parses one line of `Cache-Control` or `CDN-Cache-Control`. */
export function parseCacheControl(value: string): readonly CacheDirective[] {
  return [...value.matchAll(DIRECTIVE)].map(([, name = '', quoted, end, bare]) => {
    const argument = quoted ?? bare?.trim() ?? null;
    const fields = (argument ?? '')
      .split(',')
      .map((field) => field.trim().toLowerCase())
      .filter((field) => field !== '');
    return { name: name.toLowerCase(), argument, fields, isWhole: end !== '' };
  });
}
