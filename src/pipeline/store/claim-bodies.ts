// Bodies and metadata of a page are written one after the other, and its bodies always have the
// same name. So that nobody takes bodies away whose metadata is about to come, whoever writes or
// deletes them claims them first, over all processes; a claim that was lost stores nothing.
import { setTimeout as wait } from 'node:timers/promises';
import { formatCacheKey } from '../../core/key/cache-key.ts';
import {
  type BodyRef,
  type BodyStore,
  type CacheKey,
  CLAIM_MS,
  type Claim,
  type Done,
  type EntryStore,
} from '../ports.ts';
import type { KeyTurns } from './key-turns.ts';

type Claimed = Pick<EntryStore, 'claim' | 'release' | 'has'>;

export type Turn<T> = Done<T> | { readonly state: 'busy' };

/** Others have it for some writes to the disk, and may want it again at once. */
const WAIT_MS = 5;
const WAIT_MS_MAX = 40;
/** Longer than a dead process has it. */
const WAITS_MS_MAX = CLAIM_MS + 500;
/** A slow disk is no reason to lose it. */
const RENEW_MS = CLAIM_MS / 4;

const LEFT: Done<boolean> = { state: 'done', value: false };

/** Runs while nobody else writes or deletes the bodies; `busy`: others did all the time. */
export async function claimBodies<T>(
  key: CacheKey,
  entries: Claimed,
  run: (claim: Claim) => Promise<T>,
): Promise<Turn<T>> {
  const claimed = await takeClaim(key, entries);
  if (claimed.state === 'unavailable') return claimed;
  const claim = claimed.value;
  if (claim === null) return { state: 'busy' };
  // Whether it has been lost is found out by whoever stores with it.
  const renewal = setInterval(() => void entries.claim(key, claim), RENEW_MS).unref();
  try {
    return { state: 'done', value: await run(claim) };
  } finally {
    clearInterval(renewal);
    // One that can't be released ends by itself.
    await entries.release(key, claim);
  }
}

/**
 * The same for who writes the page: behind the other writers of this process, who are waited for
 * however long they take. The turn comes before the claim, as it does for purges and withdrawals,
 * which claim inside their turn: so no two of us wait for each other, only one of us asks for the
 * claim again and again, and nobody keeps it from other processes while waiting here.
 */
export async function claimInTurn<T>(
  key: CacheKey,
  { turns, entries }: { readonly turns: KeyTurns; readonly entries: Claimed },
  run: (claim: Claim) => Promise<T>,
): Promise<Turn<T>> {
  return await turns.take(key, () => claimBodies(key, entries, run));
}

async function takeClaim(key: CacheKey, entries: Claimed): Promise<Done<Claim | null>> {
  let waitMs = WAIT_MS;
  for (let waitedMs = 0; waitedMs < WAITS_MS_MAX; waitedMs += waitMs) {
    const claimed = await entries.claim(key);
    if (claimed.state === 'unavailable' || claimed.value !== null) return claimed;
    waitMs = Math.min(2 * waitMs, WAIT_MS_MAX);
    await wait(waitMs);
  }
  return await entries.claim(key);
}

/**
 * Deletes bodies that no entry needs; says whether they went. Where somebody is storing the page,
 * they become its own, or are left to the sweep.
 */
export async function deleteOrphan(
  ref: BodyRef,
  { entries, bodies }: { readonly entries: Claimed; readonly bodies: BodyStore },
): Promise<Done<boolean>> {
  if (bodies.sparesEntries) return await bodies.delete(ref);
  const key = formatCacheKey(ref);
  const turn = await claimBodies(key, entries, async () => {
    const stored = await entries.has(key);
    if (stored.state === 'unavailable') return stored;
    return stored.value ? LEFT : await bodies.delete(ref);
  });
  if (turn.state === 'busy') return LEFT;
  return turn.state === 'done' ? turn.value : turn;
}
