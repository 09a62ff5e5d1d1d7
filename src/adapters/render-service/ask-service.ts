// One question to one render service over HTTP, and what its answer is worth. Only a marked 200
// is a render; everything else is a word about the service, never about the page (B10, C8).
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import { Pool } from 'undici';
import {
  decodeRenderAnswer,
  RENDER_HEAD_BYTES_MAX,
  RENDER_MARK,
  type RenderAnswer,
} from '../../core/http/render-answer.ts';
import { RENDER_PATH, type RenderRequest } from '../../core/http/render-request.ts';

/** One service: its pool and the path under which its endpoints lie. */
export interface Service {
  readonly pool: Pool;
  readonly basePath: string;
  /** Host and port: what must never show in a page's headers. */
  readonly authority: string;
}

export type ServiceReply =
  | { readonly kind: 'answer'; readonly answer: RenderAnswer }
  /** It has no room now. */
  | { readonly kind: 'full' }
  /** It could not be reached, or refuses us: another may do. */
  | { readonly kind: 'unusable'; readonly detail: string }
  /** It took the job and broke it: another is not asked, the page may be the cause. */
  | {
      readonly kind: 'broken';
      readonly reason: 'render_failed' | 'too_large';
      readonly detail: string;
    };

export interface AskSettings {
  readonly token: string | null;
  readonly pageBytesMax: number;
}

const CONNECTIONS = 64;
const CONNECT_TIMEOUT_MS = 2_000;
const KEEP_ALIVE_MS = 4_000;

/** Describes a service by its URL, `http://renderer:4000` or with a path behind it. */
export function createService(url: string): Service {
  const { origin, host, pathname } = new URL(url);
  const pool = new Pool(origin, {
    connections: CONNECTIONS,
    pipelining: 1,
    allowH2: false,
    connect: { rejectUnauthorized: true, timeout: CONNECT_TIMEOUT_MS },
    // The job's own deadline bounds both; a render sends nothing until it is done.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  });
  return { pool, basePath: pathname.replace(/\/$/, ''), authority: host };
}

/** Asks for one render. Throws only the reason of `signal`. */
export async function askService(
  service: Service,
  request: RenderRequest,
  settings: AskSettings,
  signal: AbortSignal,
): Promise<ServiceReply> {
  let hasAnswered = false;
  try {
    const answer = await service.pool.request({
      method: 'POST',
      path: service.basePath + RENDER_PATH,
      headers: requestHeaders(settings.token),
      body: JSON.stringify(request),
      signal,
    });
    hasAnswered = true;
    const { statusCode, headers, body } = answer;
    if (statusCode !== 200 || headers[RENDER_MARK.name] !== RENDER_MARK.value) {
      body.on('error', () => undefined).destroy();
      return replyWithoutRender(statusCode);
    }
    const bytesMax = settings.pageBytesMax + RENDER_HEAD_BYTES_MAX;
    const raw = await readCapped(body, bytesMax);
    if (raw === null) return { kind: 'broken', reason: 'too_large', detail: 'answer' };
    const coding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
    const decoded = decodeRenderAnswer(await decode(raw, coding, bytesMax));
    if (!decoded.ok) return { kind: 'broken', reason: 'render_failed', detail: decoded.error };
    return { kind: 'answer', answer: decoded.value };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const detail = codeOf(error);
    if (detail === 'ERR_BUFFER_TOO_LARGE') return { kind: 'broken', reason: 'too_large', detail };
    return hasAnswered
      ? { kind: 'broken', reason: 'render_failed', detail }
      : { kind: 'unusable', detail };
  }
}

/** Whether it says it could take a job. */
export async function isReady(service: Service, signal: AbortSignal): Promise<boolean> {
  try {
    const path = `${service.basePath}/ready`;
    const answer = await service.pool.request({ method: 'GET', path, signal });
    await answer.body.dump();
    return answer.statusCode === 200;
  } catch {
    // Not ready is the answer, whatever kept it from saying so.
    return false;
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

async function readCapped(body: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Leaving the loop destroys the stream and its connection.
    if (bytes > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

/** We ask for no coding; something in between may still have put one on (case D3). */
async function decode(raw: Buffer, coding: string, bytesMax: number): Promise<Buffer> {
  const limits = { maxOutputLength: bytesMax };
  if (coding === 'gzip' || coding === 'x-gzip') return promisify(gunzip)(raw, limits);
  if (coding === 'br') return promisify(brotliDecompress)(raw, limits);
  return raw;
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
