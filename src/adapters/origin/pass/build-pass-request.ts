// The request that passes a client's GET on for an answer that may be kept: its target is the
// normalized URL, its headers are those that a variant is chosen by.
import { isIP } from 'node:net';
import type { Dispatcher } from 'undici';
import { sentFields } from '../../../core/http/shared-cache/sent-fields.ts';
import type { PassJob } from '../../../pipeline/origin-ports.ts';
import { splitTarget } from '../fill/build-fill-request.ts';

export type PassOptions = Dispatcher.RequestOptions & { readonly servername?: string };

export function buildPassRequest(job: PassJob, originUrl: string, pseudonym: string): PassOptions {
  const { path } = splitTarget(job.url);
  const headers = sentFields(job, pseudonym);
  return { method: 'GET', path, headers, responseHeaders: 'raw', ...serverName(originUrl) };
}

/** The certificate must name the origin that was configured; an address has no name of its own. */
function serverName(originUrl: string): { readonly servername?: string } {
  const { hostname } = new URL(originUrl);
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? { servername: hostname } : {};
}
