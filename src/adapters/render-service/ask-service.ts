// Our own contract: one question to one render service over HTTP, and what its answer is worth.
// Only a marked 200 is a render.
import { isDelimited } from '../../core/http/is-delimited.ts';
import {
  decodeRenderAnswer,
  RENDER_HEAD_BYTES_MAX,
  RENDER_MARK,
} from '../../core/http/render-answer.ts';
import { RENDER_PATH } from '../../core/http/render-request.ts';
import type { PageJob } from '../../pipeline/ports.ts';
import { buildPage, buildRenderRequest } from './build-page.ts';
import {
  type AskSettings,
  decode,
  discard,
  getStatus,
  type Protocol,
  readCapped,
  replyToError,
  type Service,
  type ServiceReply,
} from './service.ts';

export const ownProtocol: Protocol = {
  ask: askService,
  isReady: async (service, _settings, signal) =>
    (await getStatus(service, `${service.basePath}/ready`, signal)) === 200,
};

async function askService(
  service: Service,
  job: PageJob,
  settings: AskSettings,
  signal: AbortSignal,
): Promise<ServiceReply> {
  let hasAnswered = false;
  try {
    const answer = await service.pool.request({
      method: 'POST',
      path: service.basePath + RENDER_PATH,
      headers: requestHeaders(settings.token),
      body: JSON.stringify(buildRenderRequest(job)),
      signal,
    });
    hasAnswered = true;
    const { statusCode, headers, body } = answer;
    if (statusCode !== 200 || headers[RENDER_MARK.name] !== RENDER_MARK.value) {
      discard(body);
      return replyWithoutRender(statusCode);
    }
    if (!isDelimited(Object.keys(headers))) {
      discard(body);
      return { kind: 'broken', reason: 'render_failed', detail: 'unframed' };
    }
    const bytesMax = settings.pageBytesMax + RENDER_HEAD_BYTES_MAX;
    const raw = await readCapped(body, bytesMax);
    if (raw === null) return { kind: 'broken', reason: 'too_large', detail: 'answer' };
    // We ask for no coding; something in between may still have put one on.
    const coding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
    const decoded = decodeRenderAnswer(await decode(raw, coding, bytesMax));
    if (!decoded.ok) return { kind: 'broken', reason: 'render_failed', detail: decoded.error };
    const result = buildPage(decoded.value, service.authority, settings.pageBytesMax);
    return { kind: 'result', result };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return replyToError(error, hasAnswered);
  }
}

function requestHeaders(token: string | null): Record<string, string> {
  const headers = { 'content-type': 'application/json', 'accept-encoding': 'identity' };
  return token === null ? headers : { ...headers, authorization: `Bearer ${token}` };
}

/** A status without the mark: how it stands with us, or with whatever answered in its place. */
function replyWithoutRender(status: number): ServiceReply {
  if (status === 503) return { kind: 'full' };
  return { kind: 'unusable', detail: `status_${status}` };
}
