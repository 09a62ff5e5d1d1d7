// The origin's response headers as they go to the client: end-to-end fields only, repeats and order
// kept (several Set-Cookie stay several lines), and no address of the inside in a redirect.
import { type Scheme, viaMember } from './forwarded.ts';
import { hopNames, type RawHeaders, visitFields } from './hop-headers.ts';
import { publishLocation, publishRefresh } from './location.ts';

export interface Returning {
  readonly pseudonym: string;
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

/** The header fields to send to the client, framing `Transfer-Encoding` left to the sender. */
export function returnResponseHeaders(raw: RawHeaders, returning: Returning): string[] {
  const dropped = hopNames(raw);
  const out: string[] = [];
  let hasContentType = false;
  visitFields(raw, (name, value, nameAsWritten) => {
    if (dropped.has(name)) return;
    if (name === 'trailer' && !returning.hasTrailers) return;
    if (name === 'content-length' && !returning.hasLength) return;
    if (name === 'content-type') {
      // Two types: which one a reader believes is a matter of taste, so only the first exists.
      if (hasContentType) return;
      hasContentType = true;
    }
    out.push(nameAsWritten, publishAddress(name, value, returning));
  });
  out.push('Via', viaMember(returning.httpVersion, returning.pseudonym));
  return out;
}

function publishAddress(name: string, value: string, to: Returning): string {
  if (name !== 'location' && name !== 'content-location' && name !== 'refresh') return value;
  const publish = name === 'refresh' ? publishRefresh : publishLocation;
  return publish(value, innerAddresses(to), `${to.scheme}://${to.publicHost}`);
}

/** Every address that only we know. */
function innerAddresses({ originUrl, hostHeader, publicHost }: Returning): string[] {
  if (hostHeader.toLowerCase() === publicHost.toLowerCase()) return [originUrl];
  return [originUrl, `http://${hostHeader}`];
}
