// The request headers as they go upstream: written anew from the raw list, with everything removed
// that would let a client speak for a proxy, and our own X-Forwarded-* and Via added afterwards, so
// that nominating them in `Connection` cannot remove them.
import { plainAddress } from './client-address.ts';
import { hopNames, listMembers, type RawHeaders, visitFields } from './hop-headers.ts';

export type Scheme = 'http' | 'https';

export interface Forwarding {
  /** `Host` upstream. */
  readonly hostHeader: string;
  /** What the client called us: `X-Forwarded-Host`. */
  readonly publicHost: string;
  /** What the host's configuration says the public URL has. */
  readonly scheme: Scheme;
  readonly peerAddress: string;
  /** Whether the peer is a configured proxy, whose X-Forwarded-For and -Proto are believed. */
  readonly isTrustedPeer: boolean;
  /** Our name in `Via`. */
  readonly pseudonym: string;
  /** Protocol version of the received request, `1.1`. */
  readonly httpVersion: string;
  /** Replaces the client's own User-Agent; null passes it through. */
  readonly userAgent: string | null;
  /** The answer may be kept for others: nothing goes along that makes it one for this client. */
  readonly isShared: boolean;
}

/** Ours to write or meaningless upstream; framing is added by whoever sends the body. */
const REWRITTEN: ReadonlySet<string> = new Set([
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'trailer',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
]);

/** Fields that frameworks take for routing or method: only a trusted proxy may set them. */
const PROXIES_ONLY: ReadonlySet<string> = new Set([
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-forwarded-scheme',
  'x-forwarded-server',
  'x-forwarded-ssl',
  'x-host',
  'x-http-host-override',
  'x-http-method-override',
  'x-method-override',
  'x-original-host',
  'x-original-url',
  'x-real-ip',
  'x-rewrite-url',
]);

/**
 * Fields by which frameworks, platforms and older proxies choose a route, a method, a scheme or a
 * client. They are in no key, so an answer that they changed would be everybody's.
 */
const NEVER_SHARED: ReadonlySet<string> = new Set([
  ...PROXIES_ONLY,
  'client-ip',
  'front-end-https',
  'request-uri',
  'true-client-ip',
  'x-accel-mapping',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-forwarded',
  'x-http-method',
  'x-http-path-override',
  'x-matched-path',
  'x-method',
  'x-now-route-matches',
  'x-proxy-url',
  'x-real-host',
  'x-scheme',
  'x-sendfile-type',
  'x-url-scheme',
]);
const NEVER_SHARED_FAMILY = /^x-(?:arr|envoy|forwarded|invoke|middleware|original|rewrite)-/;

/**
 * The end-to-end headers to send upstream, without framing fields. Names with `_` are left out,
 * because CGI-like servers read them as `-` (case A47), and so are HTTP/2's pseudo fields.
 *
 * @param raw the client's header fields as received
 * @param forwarding what we know about the client and the host
 */
export function forwardRequestHeaders(raw: RawHeaders, forwarding: Forwarding): string[] {
  const dropped = hopNames(raw);
  const out: string[] = ['Host', forwarding.hostHeader];
  const cookies: string[] = [];
  const forwardedFor: string[] = [];
  const forwardedProto: string[] = [];
  visitFields(raw, (name, value, nameAsWritten) => {
    if (name === 'x-forwarded-for') forwardedFor.push(value);
    else if (name === 'x-forwarded-proto') forwardedProto.push(value);
    else if (name === 'cookie' && !dropped.has(name)) cookies.push(value);
    if (dropped.has(name) || REWRITTEN.has(name) || /[_:]/.test(name)) return;
    if (isKeptBack(name, forwarding)) return;
    if (name === 'user-agent' && forwarding.userAgent !== null) return;
    out.push(nameAsWritten, value);
  });
  // RFC 6265 §5.4: one Cookie field; HTTP/2 clients split it.
  if (cookies.length > 0) out.push('Cookie', cookies.join('; '));
  if (forwarding.userAgent !== null) out.push('User-Agent', forwarding.userAgent);
  out.push(
    'X-Forwarded-For',
    appendAddress(forwardedFor, forwarding),
    'X-Forwarded-Proto',
    forwarding.isShared ? forwarding.scheme : publicScheme(forwardedProto, forwarding),
    'X-Forwarded-Host',
    forwarding.publicHost,
    'Via',
    viaMember(forwarding.httpVersion, forwarding.pseudonym),
  );
  return out;
}

/**
 * The scheme the client used: the first valid token of a trusted proxy, else the configured one.
 *
 * @param forwardedProto the `X-Forwarded-Proto` lines
 */
export function publicScheme(
  forwardedProto: readonly string[],
  peer: { readonly isTrustedPeer: boolean; readonly scheme: Scheme },
): Scheme {
  if (!peer.isTrustedPeer) return peer.scheme;
  for (const member of listMembers(forwardedProto)) {
    const token = member.toLowerCase();
    if (token === 'http' || token === 'https') return token;
  }
  return peer.scheme;
}

/** One member of `Via`, `1.1 edge-gateway`; from 2 on without minor version (RFC 9110 §7.6.3). */
export function viaMember(httpVersion: string, pseudonym: string): string {
  const version = httpVersion === '1.1' ? httpVersion : httpVersion.replace(/^([2-9])\.0$/, '$1');
  return `${version} ${pseudonym}`;
}

/** Whether a `Via` list already names this very instance: the request goes in circles. */
export function isLoop(viaValues: readonly string[], pseudonym: string): boolean {
  const own = pseudonym.toLowerCase();
  return listMembers(viaValues).some((member) => member.split(/\s+/)[1]?.toLowerCase() === own);
}

function isKeptBack(name: string, { isShared, isTrustedPeer }: Forwarding): boolean {
  if (isShared) return NEVER_SHARED.has(name) || NEVER_SHARED_FAMILY.test(name);
  return !isTrustedPeer && PROXIES_ONLY.has(name);
}

function appendAddress(forwardedFor: readonly string[], forwarding: Forwarding): string {
  const peer = plainAddress(forwarding.peerAddress);
  return forwarding.isTrustedPeer ? [...listMembers(forwardedFor), peer].join(', ') : peer;
}
