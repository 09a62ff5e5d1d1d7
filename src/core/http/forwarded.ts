// The request headers as they go upstream: written anew from the raw list, with everything removed
// that would let a client speak for a proxy, and our own X-Forwarded-* and Via added afterwards, so
// that nominating them in `Connection` cannot remove them.
import { plainAddress } from './client-address.ts';
import { HOP_BY_HOP, listMembers, nominatedNames, type RawHeaders } from './hop-headers.ts';
import { createNameTable } from './name-table.ts';

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
const REWRITTEN = ['content-length', 'expect', 'forwarded', 'host', 'trailer', 'x-forwarded-host'];

/** Fields that frameworks take for routing or method: only a trusted proxy may set them. */
const PROXIES_ONLY = [
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
];

/**
 * Fields by which frameworks, platforms and older proxies choose a route, a method, a scheme, a
 * kind of page or a client; our renderer's own are among them. They are in no key, so an answer
 * that they changed would be everybody's.
 */
const NEVER_SHARED = [
  'cf-connecting-ip',
  'client-ip',
  'fastly-client-ip',
  'front-end-https',
  'request-uri',
  'true-client-ip',
  'x-accel-mapping',
  'x-astro-locals',
  'x-astro-path',
  'x-backend-host',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-edge-render',
  'x-forwarded',
  'x-host-override',
  'x-http-method',
  'x-http-path-override',
  'x-matched-path',
  'x-method',
  'x-nextjs-data',
  'x-now-route-matches',
  'x-prerender',
  'x-proto',
  'x-protocol',
  'x-proxy-url',
  'x-react-router-prerender-data',
  'x-react-router-spa-mode',
  'x-real-host',
  'x-request-path',
  'x-scheme',
  'x-sendfile-type',
  'x-url-scheme',
];
const NEVER_SHARED_FAMILY = /^x-(?:arr|envoy|forwarded|invoke|middleware|original|rewrite)-/i;

/** What a field's name alone says of its way upstream. */
type Fate =
  | 'passed'
  | 'dropped'
  /** Only from a trusted proxy, and never where the answer may be kept. */
  | 'proxies_only'
  | 'never_shared'
  | 'cookie'
  | 'forwarded_for'
  | 'forwarded_proto'
  | 'user_agent';

const knownFate = createNameTable<Fate>([
  ...[...HOP_BY_HOP, ...REWRITTEN].map((name) => [name, 'dropped'] as const),
  ...PROXIES_ONLY.map((name) => [name, 'proxies_only'] as const),
  ...NEVER_SHARED.map((name) => [name, 'never_shared'] as const),
  ['cookie', 'cookie'],
  ['x-forwarded-for', 'forwarded_for'],
  ['x-forwarded-proto', 'forwarded_proto'],
  ['user-agent', 'user_agent'],
]);

function fateOf(nameAsWritten: string): Fate {
  const known = knownFate(nameAsWritten);
  if (known !== undefined) return known;
  return nameAsWritten.includes('_') || nameAsWritten.includes(':') ? 'dropped' : 'passed';
}

/**
 * The end-to-end headers to send upstream, without framing fields. Names with `_` are left out,
 * because CGI-like servers read them as `-`, and so are HTTP/2's pseudo fields.
 *
 * @param raw the client's header fields as received
 * @param forwarding what we know about the client and the host
 */
export function forwardRequestHeaders(raw: RawHeaders, forwarding: Forwarding): string[] {
  const nominated = nominatedNames(raw);
  const out: string[] = ['Host', forwarding.hostHeader];
  const cookies: string[] = [];
  const forwardedFor: string[] = [];
  const forwardedProto: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    const value = raw[at + 1] ?? '';
    const fate = fateOf(name);
    // What these say has been judged by who sent them: no nomination takes it away.
    if (fate === 'forwarded_for') forwardedFor.push(value);
    else if (fate === 'forwarded_proto') forwardedProto.push(value);
    else if (nominated?.has(name.toLowerCase()) === true) continue;
    else if (fate === 'cookie') cookies.push(value);
    else if (isPassedOn(name, fate, forwarding)) out.push(name, value);
  }
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

function isPassedOn(
  name: string,
  fate: Fate,
  { isShared, isTrustedPeer, userAgent }: Forwarding,
): boolean {
  if (fate === 'passed') return !isShared || !NEVER_SHARED_FAMILY.test(name);
  if (fate === 'proxies_only') return isTrustedPeer && !isShared;
  if (fate === 'never_shared') return !isShared;
  return fate === 'user_agent' && userAgent === null;
}

function appendAddress(forwardedFor: readonly string[], forwarding: Forwarding): string {
  const peer = plainAddress(forwarding.peerAddress);
  return forwarding.isTrustedPeer ? [...listMembers(forwardedFor), peer].join(', ') : peer;
}
