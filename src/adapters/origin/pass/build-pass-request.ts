// The request that passes a client's GET on for an answer that may be kept: its target is the
// normalized URL, its headers are those that a variant is chosen by.
import type { Dispatcher } from 'undici';
import { sentFields } from '../../../core/http/shared-cache/sent-fields.ts';
import type { PassJob } from '../../../pipeline/origin-ports.ts';
import { splitTarget } from '../fill/build-fill-request.ts';
import type { ServerName } from '../server-name.ts';

export type PassOptions = Dispatcher.DispatchOptions & ServerName;

/** @param name of the origin's server, see `serverName` */
export function buildPassRequest(job: PassJob, pseudonym: string, name: ServerName): PassOptions {
  const { path } = splitTarget(job.url);
  return { method: 'GET', path, headers: sentFields(job, pseudonym), ...name };
}
