// `POST /recache` takes on and answers at once; `POST /warm` answers with one JSON line a URL, when
// its pages are there.
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import {
  RECACHE_URLS_MAX,
  type RecacheReport,
  type RefreshCommand,
  WARM_URLS_MAX,
  type WarmReport,
} from '../../pipeline/refresh/request-refresh.ts';
import { type AdminError, adminError } from './admin-error.ts';
import { parseRefreshBody } from './parse-refresh-body.ts';

export interface RefreshActions {
  readonly recache: (command: RefreshCommand) => Promise<RecacheReport>;
  readonly warm: (command: RefreshCommand) => AsyncIterable<WarmReport>;
}

const BODY_BYTES_MAX = 4 * 1024 * 1024;

export function addRefreshRoutes(app: FastifyInstance, actions: RefreshActions): void {
  app.post('/recache', { bodyLimit: BODY_BYTES_MAX }, async (request, reply) => {
    const command = parseRefreshBody(request.body, RECACHE_URLS_MAX);
    if (!command.ok) {
      return await reply.code(400).send(adminError('invalid_request', command.error));
    }
    const report = await actions.recache(command.value);
    return await reply.code(statusOf(report)).send({ ...report, ...errorOf(report) });
  });
  app.post('/warm', { bodyLimit: BODY_BYTES_MAX }, async (request, reply) => {
    const command = parseRefreshBody(request.body, WARM_URLS_MAX);
    if (!command.ok) {
      return await reply.code(400).send(adminError('invalid_request', command.error));
    }
    const lines = Readable.from(formatLines(actions.warm(command.value)));
    return await reply
      .header('content-type', 'application/x-ndjson')
      // It may last until the gateway stops, which then does not wait for another request.
      .header('connection', 'close')
      .send(lines);
  });
}

async function* formatLines(reports: AsyncIterable<WarmReport>): AsyncGenerator<string> {
  // Sends the head: whoever asks knows at once that somebody works.
  yield '';
  for await (const report of reports) yield `${JSON.stringify(report)}\n`;
}

function statusOf({ accepted, refused }: RecacheReport): number {
  if (accepted > 0) return 202;
  return refused.some(({ reason }) => reason.startsWith('queue_')) ? 503 : 422;
}

function errorOf({ accepted }: RecacheReport): AdminError | null {
  return accepted > 0
    ? null
    : adminError('nothing_accepted', 'none of the URLs was taken on: `refused` says why');
}
