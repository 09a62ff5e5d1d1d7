// The request that passes a client's GET on: its headers as in every bypass, its target the
// normalized URL. `Host` and `X-Forwarded-Host` are those of the URL, because an answer may depend
// on them and is kept by the URL alone.
import { isIP } from 'node:net';
import type { Dispatcher } from 'undici';
import { forwardRequestHeaders } from '../../../core/http/forwarded.ts';
import type { PassJob } from '../../../pipeline/origin-ports.ts';
import { splitTarget } from '../fill/build-fill-request.ts';

export type PassOptions = Dispatcher.RequestOptions & { readonly servername?: string };

export function buildPassRequest(job: PassJob, originUrl: string, pseudonym: string): PassOptions {
  const { authority, path } = splitTarget(job.url);
  const headers = forwardRequestHeaders(job.headers.flat(), {
    hostHeader: job.host.originHostHeader ?? authority,
    publicHost: authority,
    scheme: job.host.scheme,
    peerAddress: job.peer.address,
    isTrustedPeer: job.peer.isTrusted,
    pseudonym,
    httpVersion: job.httpVersion,
    userAgent: job.userAgent,
  });
  return { method: 'GET', path, headers, responseHeaders: 'raw', ...serverName(originUrl) };
}

/** The certificate must name the origin that was configured; an address has no name of its own. */
function serverName(originUrl: string): { readonly servername?: string } {
  const { hostname } = new URL(originUrl);
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? { servername: hostname } : {};
}
