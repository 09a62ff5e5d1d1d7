// What the primary process and its workers say to each other. Each kind has one shape, checked when
// it is received; anything else is a broken invariant.

import type { ConfigCopy } from '../../config/config-reader.ts';
import type { Settings } from '../../config/settings.ts';
import { isLeaseResult, type LeaseResult } from '../../core/lease-result.ts';
import { fieldsOf, isRecord } from '../../core/records.ts';
import { parseRefreshJob, type RefreshJob } from '../../core/refresh/refresh-job.ts';
import type { RefreshQueue } from '../../pipeline/refresh-ports.ts';

/** What a worker needs to become one. */
export interface Assignment {
  /** Which one it is: counts from 1, never given twice. */
  readonly worker: number;
  readonly file: string;
  /** The configuration in service, whatever the files say meanwhile. */
  readonly copy: ConfigCopy;
  /** What is built once counts as it is for the others. */
  readonly atStart: Settings;
  readonly pseudonym: string;
  /** Base64: any worker can resume the TLS session that another one began. */
  readonly ticketKeys: string;
}

export type WorkerQuestion =
  /** Answered by an `Assignment`. */
  | { readonly kind: 'assignment' }
  /** Answered by the URL of the renderer's socket; starts the renderer where it does not run. */
  | { readonly kind: 'renderer' }
  /** Answered by null when the renderer is ready, or by the reason why it isn't in that time. */
  | { readonly kind: 'renderer_ready'; readonly timeoutMs: number }
  /** Answered by what the queue answers. */
  | { readonly kind: 'refresh'; readonly job: RefreshJob }
  /** Answered by `leader` or `follower`. */
  | { readonly kind: 'enter'; readonly key: string; readonly turn: number };

export type WorkerWord =
  | { readonly kind: 'ready' }
  /** It can't start, and ends. */
  | { readonly kind: 'failed'; readonly message: string }
  | LeaseReleased;

interface LeaseReleased {
  readonly kind: 'release';
  readonly key: string;
  readonly turn: number;
  readonly result: LeaseResult;
}

export type PrimaryQuestion =
  /** Answered by null, or by the reason why the old configuration goes on serving. */
  | { readonly kind: 'reload'; readonly copy: ConfigCopy }
  /** Answered by a `MetricsSnapshot`. */
  | { readonly kind: 'metrics' }
  /** Answered by the last `MetricsSnapshot`, when open requests have ended. */
  | { readonly kind: 'stop'; readonly idleGraceMs: number };

export type PrimaryWord =
  | { readonly kind: 'lease_ended'; readonly turn: number; readonly result: LeaseResult }
  /** After the answer to `stop`. */
  | { readonly kind: 'exit' };

export function readWorkerQuestion(body: unknown): WorkerQuestion {
  const { kind, key, turn, job, timeoutMs } = fieldsOf(body);
  if (kind === 'assignment' || kind === 'renderer') return { kind };
  if (kind === 'renderer_ready' && isNumber(timeoutMs)) return { kind, timeoutMs };
  if (kind === 'refresh') return { kind, job: readJob(job) };
  if (kind === 'enter' && isText(key) && isNumber(turn)) return { kind, key, turn };
  throw unknownMessage(kind);
}

export function readWorkerWord(body: unknown): WorkerWord {
  const { kind, message, key, turn, result } = fieldsOf(body);
  if (kind === 'ready') return { kind };
  if (kind === 'failed' && isText(message)) return { kind, message };
  if (kind === 'release' && isText(key) && isNumber(turn) && isLeaseResult(result)) {
    return { kind, key, turn, result };
  }
  throw unknownMessage(kind);
}

export function readPrimaryQuestion(body: unknown): PrimaryQuestion {
  const { kind, copy, idleGraceMs } = fieldsOf(body);
  if (kind === 'reload' && isConfigCopy(copy)) return { kind, copy };
  if (kind === 'metrics') return { kind };
  if (kind === 'stop' && isNumber(idleGraceMs)) return { kind, idleGraceMs };
  throw unknownMessage(kind);
}

export function readPrimaryWord(body: unknown): PrimaryWord {
  const { kind, turn, result } = fieldsOf(body);
  if (kind === 'lease_ended' && isNumber(turn) && isLeaseResult(result)) {
    return { kind, turn, result };
  }
  if (kind === 'exit') return { kind };
  throw unknownMessage(kind);
}

export function readAssignment(answer: unknown): Assignment {
  const { worker, file, copy, atStart, pseudonym, ticketKeys } = fieldsOf(answer);
  const isSettings = typeof atStart === 'object' && atStart !== null && 'server' in atStart;
  const areTexts = isText(file) && isText(pseudonym) && isText(ticketKeys);
  if (!isNumber(worker) || !areTexts || !isConfigCopy(copy) || !isSettings) {
    throw unknownMessage('assignment');
  }
  // Its inside is what the primary process compiled, and of the same release.
  return { worker, file, copy, atStart: atStart as Settings, pseudonym, ticketKeys };
}

export function readAdded(answer: unknown): Awaited<ReturnType<RefreshQueue['add']>> {
  const { state, value, reason } = fieldsOf(answer);
  if (state === 'unavailable' && isText(reason)) return { state, reason };
  if (state === 'done' && (value === 'added' || value === 'merged' || value === 'full')) {
    return { state, value };
  }
  throw unknownMessage('added');
}

function readJob(value: unknown): RefreshJob {
  const job = parseRefreshJob(value);
  if (job === null) throw unknownMessage('job');
  return job;
}

export function readRole(answer: unknown): 'leader' | 'follower' {
  if (answer === 'leader' || answer === 'follower') return answer;
  throw unknownMessage('role');
}

export function readOptionalText(answer: unknown): string | null {
  if (answer === null || isText(answer)) return answer;
  throw unknownMessage('text');
}

function isConfigCopy(value: unknown): value is ConfigCopy {
  const { texts, hostFiles } = fieldsOf(value);
  return isRecord(texts) && Object.values(texts).every(isText) && isTextList(hostFiles);
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function unknownMessage(kind: unknown): Error {
  return new Error(`no message between processes of one gateway: ${String(kind)}`);
}
