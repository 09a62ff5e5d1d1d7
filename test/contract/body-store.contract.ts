// What every body store must do.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import type { BodyRef, BodyStore, ContentCoding, Hasher } from '../../src/pipeline/ports.ts';
import { digestOf, digestsOf, makeBodies } from './stored-bodies.ts';

export interface BodyStoreSubject {
  readonly store: BodyStore;
  readonly dispose: () => Promise<void>;
}

const REF: BodyRef = { hostId: 1, dimensionId: 2, hash: '0123456789abcdef' };
const CODINGS: readonly ContentCoding[] = ['identity', 'gzip', 'br'];
const DONE = { state: 'done', value: undefined };

/** Runs the contract against one kind of store; `open` gives an empty one. */
export function describeBodyStore(name: string, open: () => Promise<BodyStoreSubject>): void {
  describe(`body store: ${name}`, () => {
    let hasher: Hasher;
    let subject: BodyStoreSubject;
    let store: BodyStore;
    beforeEach(async () => {
      hasher = await createHasher();
      subject = await open();
      store = subject.store;
    });
    afterEach(() => subject.dispose());

    test('what was never written is absent', async () => {
      const digest = { bytes: 5, hash: '0'.repeat(16) };
      for (const coding of CODINGS) {
        expect(await store.read(REF, coding, digestsOf(coding, digest))).toEqual({
          state: 'absent',
        });
      }
      expect(await store.delete(REF)).toEqual({ state: 'done', value: false });
    });

    test('all codings come back byte for byte', async () => {
      const bodies = makeBodies('page');
      expect(await store.write(REF, bodies, Date.now() + 3_600_000)).toEqual(DONE);
      for (const coding of CODINGS) {
        const value = bodies[coding];
        expect(await store.read(REF, coding, digestsOf(coding, digestOf(hasher, value)))).toEqual({
          state: 'found',
          value,
        });
      }
    });

    test.each([0, 1, 65_536, 5_000_000])('a body of %d bytes', async (bytes) => {
      const identity = Buffer.alloc(bytes, 0xfe);
      await store.write(REF, { identity }, Date.now() + 3_600_000);
      const found = await store.read(
        REF,
        'identity',
        digestsOf('identity', digestOf(hasher, identity)),
      );
      expect(found.state === 'found' && found.value.equals(identity)).toBe(true);
    });

    test('a next version replaces all codings, and takes away what it does not have', async () => {
      const old = makeBodies('old');
      await store.write(REF, old, Date.now() + 3_600_000);
      const identity = Buffer.from('new');
      await store.write(REF, { identity }, Date.now() + 3_600_000);
      expect(
        await store.read(REF, 'identity', digestsOf('identity', digestOf(hasher, identity))),
      ).toMatchObject({
        state: 'found',
      });
      expect(await store.read(REF, 'gzip', digestsOf('gzip', digestOf(hasher, old.gzip)))).toEqual({
        state: 'absent',
      });
    });

    test('bytes that are not what the digest says are damaged, never found', async () => {
      const { identity } = makeBodies('page');
      await store.write(REF, { identity }, Date.now() + 3_600_000);
      const right = digestOf(hasher, identity);
      for (const digest of [
        { ...right, hash: '0'.repeat(16) },
        { ...right, bytes: right.bytes - 1 },
        { ...right, bytes: right.bytes + 1 },
      ]) {
        expect(await store.read(REF, 'identity', digestsOf('identity', digest))).toMatchObject({
          state: 'damaged',
        });
      }
      expect(await store.read(REF, 'identity', digestsOf('identity', right))).toMatchObject({
        state: 'found',
      });
    });

    test('what is read ahead is what would be read, whichever coding is asked for', async () => {
      const bodies = makeBodies('page');
      await store.write(REF, bodies, Date.now() + 3_600_000);
      for (const ranked of [CODINGS, CODINGS.toReversed(), ['identity']] as const) {
        for (const coding of CODINGS) {
          const value = bodies[coding];
          const reading = store.readAhead(REF, ranked);
          expect(await reading(coding, digestsOf(coding, digestOf(hasher, value)))).toEqual({
            state: 'found',
            value,
          });
        }
      }
    });

    test('what is read ahead of another version is not taken for this one', async () => {
      const [before, after] = [Buffer.from('before'), Buffer.from('after!')];
      await store.write(REF, { identity: before }, Date.now() + 3_600_000);
      const reading = store.readAhead(REF, CODINGS);
      expect(
        await reading('identity', digestsOf('identity', digestOf(hasher, before))),
      ).toMatchObject({ state: 'found' });
      await store.write(REF, { identity: after }, Date.now() + 3_600_000);
      expect(await reading('identity', digestsOf('identity', digestOf(hasher, after)))).toEqual({
        state: 'found',
        value: after,
      });
      await store.delete(REF);
      const absent = store.readAhead(REF, CODINGS);
      expect(await absent('identity', digestsOf('identity', digestOf(hasher, after)))).toEqual({
        state: 'absent',
      });
    });

    test('hosts, dimensions and hashes do not mix', async () => {
      const refs: BodyRef[] = [
        REF,
        { ...REF, hostId: 11 },
        { ...REF, dimensionId: 1 },
        { ...REF, hash: '0123456789abcdee' },
      ];
      const bodyOf = (ref: BodyRef) => Buffer.from(JSON.stringify(ref));
      for (const ref of refs)
        await store.write(ref, { identity: bodyOf(ref) }, Date.now() + 3_600_000);
      expect(await store.delete(REF)).toEqual({ state: 'done', value: true });
      const states = [];
      for (const ref of refs) {
        const digest = digestOf(hasher, bodyOf(ref));
        states.push((await store.read(ref, 'identity', digestsOf('identity', digest))).state);
      }
      expect(states).toEqual(['absent', 'found', 'found', 'found']);
    });

    test('deleting takes all codings', async () => {
      const bodies = makeBodies('page');
      await store.write(REF, bodies, Date.now() + 3_600_000);
      expect(await store.delete(REF)).toEqual({ state: 'done', value: true });
      for (const coding of CODINGS) {
        const digest = digestOf(hasher, bodies[coding]);
        expect(await store.read(REF, coding, digestsOf(coding, digest))).toEqual({
          state: 'absent',
        });
      }
    });

    test('writers and readers at once: a reader gets a whole version or none', async () => {
      const versions = Array.from({ length: 20 }, (_, i) => Buffer.alloc(200_000, 65 + i));
      const digests = versions.map((version) => digestOf(hasher, version));
      const writes = Promise.all(
        versions.map((identity) => store.write(REF, { identity }, Date.now() + 3_600_000)),
      );
      const reads = Promise.all(
        digests.map((digest) => store.read(REF, 'identity', digestsOf('identity', digest))),
      );
      expect(await writes).toEqual(versions.map(() => DONE));
      for (const [i, found] of (await reads).entries()) {
        const isWhole = found.state !== 'found' || found.value.equals(versions[i] ?? found.value);
        expect([found.state, isWhole]).toEqual([found.state, true]);
      }
      for (const digest of digests) expect(await store.forget(REF, digest)).toEqual(DONE);
      const last = await Promise.all(
        digests.map((digest) => store.read(REF, 'identity', digestsOf('identity', digest))),
      );
      expect(last.filter((found) => found.state === 'found')).toHaveLength(1);
    });

    test('check answers', async () => {
      expect(await store.check()).toEqual(DONE);
    });
  });
}
