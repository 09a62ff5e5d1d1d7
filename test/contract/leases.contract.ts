// What all leases must do; each adapter runs it. Two clients stand for two processes, or machines.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Lease, LeaseResult, Leases, LeaseTurn } from '../../src/pipeline/ports.ts';

export interface LeasesSubject {
  readonly clients: readonly [Leases, Leases];
  /** Ends the second client without a word, as if its process had been killed. */
  readonly killSecond: () => Promise<void>;
  readonly dispose: () => Promise<void>;
}

const STORED: LeaseResult = { outcome: 'stored', reason: null };
const FAILED: LeaseResult = { outcome: 'failed', reason: 'http_response_timeout' };
const LOST = { outcome: 'lost' };
const KEY = 'cache:1:2:0123456789abcdef';

/** Runs the contract against one kind of leases; nobody holds any at first. */
export function describeLeases(name: string, open: () => Promise<LeasesSubject>): void {
  describe(`leases: ${name}`, () => {
    let subject: LeasesSubject;
    let one: Leases;
    let other: Leases;
    beforeEach(async () => {
      subject = await open();
      [one, other] = subject.clients;
    });
    afterEach(() => subject.dispose());

    test('the first leads, everybody else follows and hears the word', async () => {
      const lease = await lead(one);
      const followers = await Promise.all([follow(other), follow(other), follow(one)]);
      expect(lease.isHeld()).toBe(true);
      await lease.release(FAILED);
      expect(await Promise.all(followers.map(({ result }) => result))).toEqual([
        FAILED,
        FAILED,
        FAILED,
      ]);
    });

    test('of many at once exactly one leads', async () => {
      const entering = Array.from({ length: 60 }, (_, i) => (i % 2 ? one : other).enter(KEY));
      const turns = await Promise.all(entering);
      const leaders = turns.filter((turn) => turn.role === 'leader');
      expect(leaders).toHaveLength(1);
      const results = turns.flatMap((turn) => (turn.role === 'follower' ? [turn.result] : []));
      expect(results).toHaveLength(59);
      await leaders[0]?.lease.release(STORED);
      expect(await Promise.all(results)).toEqual(results.map(() => STORED));
    });

    test('after a release the next one leads, with a lease of its own', async () => {
      const first = await lead(one);
      await first.release(STORED);
      expect(first.isHeld()).toBe(false);
      const second = await lead(other);
      await first.release(FAILED);
      const { result } = await follow(one);
      expect(second.isHeld()).toBe(true);
      await second.release(STORED);
      expect(await result).toEqual(STORED);
    });

    test('a lease ends while others enter: each leads, or hears of an end', async () => {
      for (let round = 0; round < 30; round += 1) {
        const lease = await lead(one);
        const entering = other.enter(KEY);
        await lease.release(STORED);
        const turn = await entering;
        if (turn.role === 'leader') await turn.lease.release(STORED);
        else expect(await resultOf(turn)).toEqual(STORED);
      }
    });

    test('keys do not mix', async () => {
      const keys = [KEY, `${KEY}:`, 'cache:1:2:0123456789abcdee', 'a{b}c', '{', ''];
      const leases = await Promise.all(keys.map((key) => lead(one, key)));
      const { result } = await follow(other, keys[1]);
      await leases[0]?.release(FAILED);
      await leases[1]?.release(STORED);
      expect(await result).toEqual(STORED);
      for (const lease of leases.slice(2)) {
        expect(lease.isHeld()).toBe(true);
        await lease.release(STORED);
      }
    });

    test('a lease outlives its first time while its holder lives', async () => {
      const lease = await lead(one);
      const { result } = await follow(other);
      const ended = await Promise.race([result, waitFor(5_000)]);
      expect([ended, lease.isHeld()]).toEqual(['nothing', true]);
      await lease.release(STORED);
      expect(await result).toEqual(STORED);
    });

    test('the holder is killed: its followers hear of it, and one of them leads', async () => {
      await lead(other);
      const followers = await Promise.all([follow(one), follow(one), follow(one)]);
      await subject.killSecond();
      const results = await Promise.all(followers.map(({ result }) => result));
      expect(results).toMatchObject([LOST, LOST, LOST]);
      const turns = await Promise.all(followers.map(() => one.enter(KEY)));
      expect(turns.map(({ role }) => role).toSorted()).toEqual(['follower', 'follower', 'leader']);
    });

    test('after close: nobody waits any more, and nobody leads', async () => {
      await lead(one);
      const { result } = await follow(other);
      await other.close();
      expect(await result).toMatchObject(LOST);
      expect(await other.enter(KEY)).toMatchObject({ role: 'unavailable' });
    });
  });
}

async function lead(leases: Leases, key = KEY): Promise<Lease> {
  const turn = await leases.enter(key);
  if (turn.role !== 'leader') throw new Error(`${turn.role} in place of leader`);
  return turn.lease;
}

type Following = Extract<LeaseTurn, { role: 'follower' }>;

async function follow(leases: Leases, key = KEY): Promise<Following> {
  const turn = await leases.enter(key);
  if (turn.role !== 'follower') throw new Error(`${turn.role} in place of follower`);
  return turn;
}

async function resultOf(turn: LeaseTurn): Promise<LeaseResult> {
  if (turn.role !== 'follower') throw new Error(`${turn.role} in place of follower`);
  return await turn.result;
}

/** So long must nothing happen. */
async function waitFor(durationMs: number): Promise<'nothing'> {
  return await new Promise((resolve) => {
    setTimeout(() => resolve('nothing'), durationMs);
  });
}
