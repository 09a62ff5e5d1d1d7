// The answer half of the render service's HTTP contract: `200 application/octet-stream` marked by
// a header of its own, holding a 4-byte big-endian length, a JSON head of that length, and the
// page's HTML in UTF-8. The page's status is inside, so no transport failure and no foreign
// server can be mistaken for a rendered page.
import { isRecord, type UnknownRecord } from '../records.ts';
import { err, ok, type Result } from '../result.ts';
import type { HeaderList } from './header-list.ts';
import { readHeaders, readInteger, readOptionalText, readTexts } from './render-request.ts';

/** The mark, as header name (lower case) and value. */
export const RENDER_MARK = { name: 'edge-gateway-render', value: '1' } as const;
/** Media type of a marked answer. */
export const RENDER_ANSWER_TYPE = 'application/octet-stream';
/** Largest JSON head. */
export const RENDER_HEAD_BYTES_MAX = 262_144;

export type RenderOutcome = 'complete' | 'partial' | 'redirect' | 'failed';

/** Why a render failed, as the service says it. */
export type RenderErrorCode =
  | 'timeout'
  | 'crashed'
  | 'too_large'
  | 'loop'
  | 'origin_unreachable'
  | 'origin_timeout'
  /** The service's own files don't have the host: they are others than the gateway's. */
  | 'unknown_host'
  | 'refused'
  | 'internal';

export interface RenderError {
  readonly code: RenderErrorCode;
  /** For the log of the service's operator; never shown to a client. */
  readonly message: string;
}

export interface RenderHead {
  readonly outcome: RenderOutcome;
  /** The page's own status; 0 when `failed`. */
  readonly status: number;
  readonly final_url: string | null;
  /** Target of a `redirect`, absolute or relative, percent-encoded or not. */
  readonly location: string | null;
  /** Headers of the page's main response. */
  readonly headers: HeaderList;
  /** Milliseconds by phase name. */
  readonly timings: Readonly<Record<string, number>>;
  /** URLs still being loaded when a `partial` page was captured. */
  readonly pending_requests: readonly string[];
  readonly console_errors: readonly string[];
  readonly error: RenderError | null;
}

export interface RenderAnswer {
  readonly head: RenderHead;
  readonly html: Uint8Array;
}

const OUTCOMES: readonly RenderOutcome[] = ['complete', 'partial', 'redirect', 'failed'];
const ERROR_CODES: readonly RenderErrorCode[] = [
  'timeout',
  'crashed',
  'too_large',
  'loop',
  'origin_unreachable',
  'origin_timeout',
  'unknown_host',
  'refused',
  'internal',
];
const LENGTH_BYTES = 4;
const TIMINGS_MAX = 100;
const TIMING_MS_MAX = 86_400_000;

/** The body of a marked answer. */
export function encodeRenderAnswer(answer: RenderAnswer): Uint8Array {
  const head = new TextEncoder().encode(JSON.stringify(answer.head));
  const bytes = new Uint8Array(LENGTH_BYTES + head.length + answer.html.length);
  new DataView(bytes.buffer).setUint32(0, head.length);
  bytes.set(head, LENGTH_BYTES);
  bytes.set(answer.html, LENGTH_BYTES + head.length);
  return bytes;
}

/** Reads the body of a marked answer; the error says what doesn't fit the contract. */
export function decodeRenderAnswer(bytes: Uint8Array): Result<RenderAnswer, string> {
  if (bytes.length < LENGTH_BYTES) return err('no length');
  const headBytes = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  const bodyStart = LENGTH_BYTES + headBytes;
  if (headBytes > RENDER_HEAD_BYTES_MAX || bodyStart > bytes.length) return err('head length');
  const value = parseJson(bytes.subarray(LENGTH_BYTES, bodyStart));
  if (!isRecord(value)) return err('head is not a JSON object');
  const head = parseRenderHead(value);
  return head.ok ? ok({ head: head.value, html: bytes.subarray(bodyStart) }) : head;
}

function parseRenderHead(value: UnknownRecord): Result<RenderHead, string> {
  const outcome = OUTCOMES.find((word) => word === value['outcome']);
  const status = readInteger(value['status'], 599);
  const finalUrl = readOptionalText(value['final_url']);
  const location = readOptionalText(value['location']);
  const headers = readHeaders(value['headers']);
  const timings = readTimings(value['timings']);
  const pending = readTexts(value['pending_requests']);
  const consoleErrors = readTexts(value['console_errors']);
  const error = readError(value['error']);
  if (outcome === undefined) return err('outcome');
  if (status === null || !fitsOutcome(status, outcome)) return err('status');
  if (finalUrl === undefined) return err('final_url');
  if (location === undefined || (outcome === 'redirect' && location === null)) {
    return err('location');
  }
  if (headers === null) return err('headers');
  if (timings === null) return err('timings');
  if (pending === null) return err('pending_requests');
  if (consoleErrors === null) return err('console_errors');
  if (error === undefined || (outcome === 'failed') !== (error !== null)) return err('error');
  return ok({
    outcome,
    status,
    final_url: finalUrl,
    location,
    headers,
    timings,
    pending_requests: pending,
    console_errors: consoleErrors,
    error,
  });
}

/** A page has a final status with content; a redirect one of the statuses that redirect. */
function fitsOutcome(status: number, outcome: RenderOutcome): boolean {
  if (outcome === 'failed') return status === 0;
  if (outcome === 'redirect') return [301, 302, 303, 307, 308].includes(status);
  return status >= 200 && ![204, 205, 206, 304].includes(status);
}

function readTimings(value: unknown): Readonly<Record<string, number>> | null {
  if (!isRecord(value)) return null;
  const entries = Object.entries(value);
  if (entries.length > TIMINGS_MAX) return null;
  const isValid = entries.every(
    ([, ms]) => typeof ms === 'number' && ms >= 0 && ms <= TIMING_MS_MAX,
  );
  // fromEntries defines own fields, so a field named `__proto__` stays an ordinary one.
  return isValid ? Object.fromEntries(entries.map(([name, ms]) => [name, Number(ms)])) : null;
}

function readError(value: unknown): RenderError | null | undefined {
  if (value === null || value === undefined) return null;
  if (!isRecord(value)) return undefined;
  const code = ERROR_CODES.find((word) => word === value['code']);
  const message = readOptionalText(value['message']);
  if (code === undefined || message === undefined || message === null) return undefined;
  return { code, message };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // Not an answer of ours: undefined is refused like any other value that is no object.
    return undefined;
  }
}
