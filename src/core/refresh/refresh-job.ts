// A refresh job: a page that is got without anybody waiting for it. What two jobs for one page make
// together, and which of them goes first, is the same in every queue.

import { formatCacheKey, isDimensionId, isHostId, parseCacheKey } from '../key/cache-key.ts';
import type { CacheKey } from '../key/entry.ts';
import { fieldsOf, isCount } from '../records.ts';

/** Why: an operator asked, a crawler hit an old page, a list is walked ahead of everyone. */
export type RefreshReason = 'recache' | 'bothit' | 'warm';

export interface RefreshJob {
  readonly key: CacheKey;
  /** The normalized URL. */
  readonly url: string;
  readonly hostId: number;
  readonly dimensionId: number;
  readonly reason: RefreshReason;
  /** Epoch milliseconds. */
  readonly askedAt: number;
  /** How often it has been tried in vain. */
  readonly failures: number;
  /** How often it may be. */
  readonly tries: number;
}

/** Also where nobody says how often. */
export const TRIES_MAX = 4;

/** 1 is the most urgent. */
const URGENCY: Readonly<Record<RefreshReason, number>> = { recache: 1, bothit: 2, warm: 3 };

/** The most urgent first. */
export const URGENCIES: readonly number[] = Object.values(URGENCY).sort((a, b) => a - b);

/** The part of a queue that each may fill: a long list never keeps an operator out. */
const QUEUE_SHARE: Readonly<Record<RefreshReason, number>> = { recache: 1, bothit: 0.9, warm: 0.8 };

export function urgencyOf({ reason }: Pick<RefreshJob, 'reason'>): number {
  return URGENCY[reason];
}

/** How many jobs may be waiting for one of this reason to be taken on. */
export function placesFor({ reason }: Pick<RefreshJob, 'reason'>, jobsMax: number): number {
  return Math.floor(jobsMax * QUEUE_SHARE[reason]);
}

/** One job for both, for a page that is asked for while it waits already. */
export function mergeJobs(waiting: RefreshJob, asked: RefreshJob): RefreshJob {
  const reason = urgencyOf(asked) < urgencyOf(waiting) ? asked.reason : waiting.reason;
  const askedAt = Math.max(waiting.askedAt, asked.askedAt);
  return { ...waiting, reason, askedAt, tries: Math.max(waiting.tries, asked.tries) };
}

/** A job out of a store that others can write to; null for anything that can't be one. */
export function parseRefreshJob(value: unknown): RefreshJob | null {
  const fields = fieldsOf(value);
  const { key, url, reason, hostId, dimensionId, askedAt, failures } = fields;
  if (typeof key !== 'string' || typeof url !== 'string' || !isReason(reason)) return null;
  if (!isHostId(hostId) || !isDimensionId(dimensionId)) return null;
  // Absent in jobs of older releases.
  const tries = fields['tries'] ?? TRIES_MAX;
  if (!isCount(askedAt) || !isCount(failures) || !isCount(tries)) return null;
  const hash = parseCacheKey(key)?.hash;
  if (hash === undefined || formatCacheKey({ hostId, dimensionId, hash }) !== key) return null;
  return { key, url, hostId, dimensionId, reason, askedAt, failures, tries };
}

function isReason(value: unknown): value is RefreshReason {
  return typeof value === 'string' && Object.hasOwn(URGENCY, value);
}
