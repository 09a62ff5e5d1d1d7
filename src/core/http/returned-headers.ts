// The origin's response headers as they go to the client: end-to-end fields only, repeats and order
// kept (several Set-Cookie stay several lines), and no address of the inside in a redirect.
import { type Scheme, viaMember } from './forwarded.ts';
import { HOP_BY_HOP, nominatedNames, type RawHeaders } from './hop-headers.ts';
import { publishLocation, publishRefresh } from './location.ts';
import { createNameTable } from './name-table.ts';

export interface Returning {
  /** Our name in `Via`; null: it is added by whoever sends the answer. */
  readonly pseudonym: string | null;
  /** Protocol version the origin answered in. */
  readonly httpVersion: string;
  /** `http://127.0.0.1:3000`: what must not appear in a redirect. */
  readonly originUrl: string;
  /** `Host` that was sent upstream: the origin builds absolute redirects from it. */
  readonly hostHeader: string;
  readonly scheme: Scheme;
  readonly publicHost: string;
  /** Whether the body and its length belong to this status (RFC 9110 §6.4.1). */
  readonly hasLength: boolean;
  /** Whether trailer fields can follow, so that announcing them is true. */
  readonly hasTrailers: boolean;
}

/** What a field's name alone says of its way to the client; most are just passed. */
type Fate = 'dropped' | 'trailer' | 'content-length' | 'content-type' | 'location' | 'refresh';

const fateOf = createNameTable<Fate>([
  ...[...HOP_BY_HOP].map((name) => [name, 'dropped'] as const),
  ['trailer', 'trailer'],
  ['content-length', 'content-length'],
  ['content-type', 'content-type'],
  ['location', 'location'],
  ['content-location', 'location'],
  ['refresh', 'refresh'],
]);

/** The header fields to send to the client, framing `Transfer-Encoding` left to the sender. */
export function returnResponseHeaders(raw: RawHeaders, returning: Returning): string[] {
  const nominated = nominatedNames(raw);
  const out: string[] = [];
  let hasContentType = false;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    const value = raw[at + 1] ?? '';
    const fate = fateOf(name);
    if (nominated?.has(name.toLowerCase()) === true || !isReturned(fate, returning)) continue;
    if (fate === 'content-type') {
      // Two types: which one a reader believes is a matter of taste, so only the first exists.
      if (hasContentType) continue;
      hasContentType = true;
    }
    out.push(name, publishValue(fate, value, returning));
  }
  const { pseudonym, httpVersion } = returning;
  if (pseudonym !== null) out.push('Via', viaMember(httpVersion, pseudonym));
  return out;
}

function isReturned(fate: Fate | undefined, { hasTrailers, hasLength }: Returning): boolean {
  if (fate === 'trailer') return hasTrailers;
  if (fate === 'content-length') return hasLength;
  return fate !== 'dropped';
}

function publishValue(fate: Fate | undefined, value: string, to: Returning): string {
  if (fate !== 'location' && fate !== 'refresh') return value;
  const publish = fate === 'refresh' ? publishRefresh : publishLocation;
  return publish(value, innerAddresses(to), `${to.scheme}://${to.publicHost}`);
}

/** Every address that only we know. */
function innerAddresses({ originUrl, hostHeader, publicHost }: Returning): string[] {
  if (hostHeader.toLowerCase() === publicHost.toLowerCase()) return [originUrl];
  return [originUrl, `http://${hostHeader}`];
}
