// The fields that go to the origin for an answer that may be kept. Made here for the one who sends
// them and for the one who chooses a variant by them: what a client says and the origin never hears
// must not choose (RFC 9111 §4.1).
import type { HostPolicy } from '../../policy/policy.ts';
import { forwardRequestHeaders } from '../forwarded.ts';
import type { HeaderList } from '../header-list.ts';

export interface SharedRequest {
  readonly host: Pick<HostPolicy, 'scheme' | 'originHostHeader'>;
  /** Normalized. */
  readonly url: string;
  /** The client's. */
  readonly headers: HeaderList;
  readonly peer: { readonly address: string; readonly isTrusted: boolean };
  /** Protocol version the client spoke. */
  readonly httpVersion: string;
  /** null: the client's own. */
  readonly userAgent: string | null;
}

/**
 * Name, value, name, value …; `Host` and `X-Forwarded-Host` are those of the URL, because an answer
 * may depend on them and is kept by the URL alone.
 *
 * @param pseudonym ours in `Via`
 */
export function sentFields(request: SharedRequest, pseudonym: string): string[] {
  const [, authority = ''] = /^[a-z]+:\/\/([^/?#]+)/.exec(request.url) ?? [];
  return forwardRequestHeaders(request.headers.flat(), {
    hostHeader: request.host.originHostHeader ?? authority,
    publicHost: authority,
    scheme: request.host.scheme,
    peerAddress: request.peer.address,
    isTrustedPeer: request.peer.isTrusted,
    pseudonym,
    httpVersion: request.httpVersion,
    userAgent: request.userAgent,
    isShared: true,
  });
}
