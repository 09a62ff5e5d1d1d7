// The origin's response headers as they go to the client: end-to-end fields only, repeats and order
// kept (several Set-Cookie stay several lines), and no address of the inside in a redirect.
import { type Scheme, viaMember } from './forwarded.ts';
import { hopNames, type RawHeaders, visitFields } from './hop-headers.ts';
import { publishLocation } from './location.ts';

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
    const isAddress = name === 'location' || name === 'content-location';
    out.push(nameAsWritten, isAddress ? publishAddress(value, returning) : value);
  });
  out.push('Via', viaMember(returning.httpVersion, returning.pseudonym));
  return out;
}

function publishAddress(value: string, returning: Returning): string {
  const outer = `${returning.scheme}://${returning.publicHost}`;
  return publishLocation(value, innerAddresses(returning), outer);
}

/** Every way to write the addresses that only we know: with and without the default port. */
function innerAddresses(to: Returning): string[] {
  const addresses = new Set([to.originUrl]);
  if (to.hostHeader.toLowerCase() !== to.publicHost.toLowerCase()) {
    addresses.add(`http://${to.hostHeader}`).add(`https://${to.hostHeader}`);
  }
  for (const address of [...addresses]) {
    if (/:\d+$/.test(address)) continue;
    addresses.add(address + (address.startsWith('https:') ? ':443' : ':80'));
  }
  return [...addresses];
}
