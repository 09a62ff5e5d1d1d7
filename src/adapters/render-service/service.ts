// One render service and what can be said of its answers, whatever wire contract it speaks: a
// result for the page, or a word about the service itself, which is never the page's.
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import { Pool } from 'undici';
import type { PageJob, PageResult } from '../../pipeline/ports.ts';

/** One service: its pool and the path under which its endpoints lie. */
export interface Service {
  /** Where it is, without credentials: for the metrics. */
  readonly name: string;
  readonly pool: Pool;
  readonly basePath: string;
  /** Host and port: what must never show in a page's headers. */
  readonly authority: string;
}

export type ServiceReply =
  /** It did its work: a page, or the page's own failure. */
  | { readonly kind: 'result'; readonly result: PageResult }
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

/** A wire contract, from a job to a reply. */
export interface Protocol {
  /** Asks for one render. Throws only the reason of `signal`. */
  readonly ask: (
    service: Service,
    job: PageJob,
    settings: AskSettings,
    signal: AbortSignal,
  ) => Promise<ServiceReply>;
  /** Whether it says, or shows, that it could take a job. */
  readonly isReady: (
    service: Service,
    settings: AskSettings,
    signal: AbortSignal,
  ) => Promise<boolean>;
}

const CONNECTIONS = 64;
const CONNECT_TIMEOUT_MS = 2_000;
const KEEP_ALIVE_MS = 4_000;

/** Stands for the host of a service on a socket file, which has none. */
const SOCKET_AUTHORITY = 'renderer.invalid';

/** Describes a service by its URL: `http://renderer:4000`, a path behind it, or `unix:/path`. */
export function createService(url: string): Service {
  const { protocol, origin, host, pathname } = new URL(url);
  if (protocol === 'unix:') {
    const pool = openPool(`http://${SOCKET_AUTHORITY}`, pathname);
    return { name: `unix:${pathname}`, pool, basePath: '', authority: SOCKET_AUTHORITY };
  }
  const basePath = pathname.replace(/\/$/, '');
  return { name: host + basePath, pool: openPool(origin, null), basePath, authority: host };
}

function openPool(origin: string, socketPath: string | null): Pool {
  return new Pool(origin, {
    ...(socketPath === null ? {} : { socketPath }),
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
}

/** The status of a GET, or null where there was no answer. */
export async function getStatus(
  { pool }: Service,
  path: string,
  signal: AbortSignal,
): Promise<number | null> {
  try {
    const answer = await pool.request({ method: 'GET', path, signal });
    await answer.body.dump();
    return answer.statusCode;
  } catch {
    // No answer is the answer, whatever kept it from giving one.
    return null;
  }
}

/** Leaves a body that nobody wants, its connection with it. */
export function discard(body: Readable): void {
  body.on('error', () => undefined).destroy();
}

/** Reads a body to its end; null when it is larger than `bytesMax`. */
export async function readCapped(
  body: AsyncIterable<Buffer>,
  bytesMax: number,
): Promise<Buffer | null> {
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

/** Takes the coding off a body; one that grows beyond `bytesMax` throws ERR_BUFFER_TOO_LARGE. */
export async function decode(raw: Buffer, coding: string, bytesMax: number): Promise<Buffer> {
  const limits = { maxOutputLength: bytesMax };
  if (coding === 'gzip' || coding === 'x-gzip') return promisify(gunzip)(raw, limits);
  if (coding === 'br') return promisify(brotliDecompress)(raw, limits);
  return raw;
}

/** What an error while asking says of the service. */
export function replyToError(error: unknown, hasAnswered: boolean): ServiceReply {
  const detail = codeOf(error);
  if (detail === 'ERR_BUFFER_TOO_LARGE') return { kind: 'broken', reason: 'too_large', detail };
  return hasAnswered
    ? { kind: 'broken', reason: 'render_failed', detail }
    : { kind: 'unusable', detail };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
