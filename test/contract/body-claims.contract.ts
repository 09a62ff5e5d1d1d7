// Who may write or delete the bodies of a page, as every entry store says it: one at a time, over
// all processes, and nobody for long who is dead.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CLAIM_MS, type Entry, type EntryStore } from '../../src/pipeline/ports.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import type { EntryStoreSubject } from './entry-store.contract.ts';
import { keyOf, makeEntry } from './stored-entries.ts';
import { createTestClock, type TestClock } from './test-clock.ts';

/** Runs the contract against one kind of store; `open` gives an empty one. */
export function describeBodyClaims(
  name: string,
  open: (clock: TestClock) => Promise<EntryStoreSubject>,
): void {
  describe(`claims of bodies: ${name}`, () => {
    let clock: TestClock;
    let subject: EntryStoreSubject;
    let store: EntryStore;
    let other: EntryStore;
    let entry: Entry;
    let key: string;
    beforeEach(async () => {
      clock = createTestClock();
      subject = await open(clock);
      store = subject.store;
      other = await subject.openOther();
      entry = makeEntry({}, clock.now());
      key = keyOf(entry);
    });
    afterEach(async () => {
      await other.close();
      await subject.dispose();
    });

    const claim = async (by: EntryStore, mine?: string): Promise<string | null> => {
      const claimed = await by.claim(key, mine);
      return claimed.state === 'done' ? claimed.value : expect.unreachable(claimed.reason);
    };
    const claimNow = async (by: EntryStore): Promise<string> =>
      (await claim(by)) ?? expect.unreachable('somebody has it');
    const LOST = { state: 'unavailable', reason: 'claim_lost' };

    test('of many at once one has it, and stores with it', async () => {
      const claims = await Promise.all([store, other, store, other].map((by) => claim(by)));
      const [mine = '', ...more] = claims.filter((one) => one !== null);
      expect(more).toEqual([]);
      expect(await store.put(key, entry, mine)).toEqual({ state: 'done', value: undefined });
      expect(await store.get(key)).toMatchObject({ value: entry });
    });

    test('pages have claims of their own', async () => {
      await claimNow(store);
      const page = makeEntry({ hash: '0'.repeat(16) }, clock.now());
      expect(await other.claim(keyOf(page))).toMatchObject({ value: expect.any(String) });
    });

    test('released, it is another’s: what was done with it before counts no more', async () => {
      const mine = await claimNow(store);
      await store.release(key, mine);
      const next = await claimNow(other);
      expect(await claim(store, mine)).toBeNull();
      await store.release(key, mine);
      expect(await claim(store)).toBeNull();
      expect(await store.put(key, entry, mine)).toEqual(LOST);
      expect(await store.get(key)).toEqual({ state: 'absent' });
      expect(await other.put(key, entry, next)).toMatchObject({ state: 'done' });
    });

    test('its owner is dead: another has it after a while', async () => {
      const dead = await claimNow(store);
      expect(await claim(other)).toBeNull();
      clock.advance(CLAIM_MS);
      let next: string | null = null;
      await waitUntil('it is free', async () => {
        next = await claim(other);
        return next !== null;
      });
      expect(next).not.toBe(dead);
      expect(await store.put(key, entry, dead)).toEqual(LOST);
      expect(await claim(store, dead)).toBeNull();
    });

    test('who keeps asking for its own keeps it', async () => {
      const mine = await claimNow(store);
      for (let turn = 0; turn < 3; turn += 1) {
        clock.advance(CLAIM_MS - 1);
        expect(await claim(store, mine)).toBe(mine);
        expect(await claim(other)).toBeNull();
      }
      expect(await store.put(key, entry, mine)).toMatchObject({ state: 'done' });
    });
  });
}
