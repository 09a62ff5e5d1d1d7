// Fills the store of the entries bench, in a process of its own: `entries-build.ts FILE COUNT`.
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import { countEntryBytes } from '../../src/core/key/entry-bytes.ts';
import type { Done } from '../../src/pipeline/ports.ts';
import type { UsageChange } from '../../src/pipeline/upkeep-ports.ts';
import { BODIES, makeBenchPage, makeBody, openBenchStores } from './entries-store.ts';

const BODIES_AT_ONCE = 32;
const ENTRIES_AT_ONCE = 2_048;
const [, , file = '', count = '0'] = process.argv;

const hasher = await createHasher();
const digests = Array.from({ length: BODIES }, (_, i) => hasher.bytes(makeBody(i)));
const stores = await openBenchStores(file);
const { entries, bodies, upkeep } = stores;
for (let from = 0; from < Number(count); from += ENTRIES_AT_ONCE) {
  const length = Math.min(ENTRIES_AT_ONCE, Number(count) - from);
  const pages = Array.from({ length }, (_, i) => makeBenchPage(hasher, from + i, digests));
  for (let i = 0; i < length; i += BODIES_AT_ONCE) {
    const some = pages.slice(i, i + BODIES_AT_ONCE);
    const writing = some.map(({ ref }, j) =>
      bodies.write(ref, { identity: makeBody(from + i + j) }, Number.MAX_SAFE_INTEGER),
    );
    for (const done of await Promise.all(writing)) expectDone(done);
  }
  const putting = pages.map(({ key, entry }) => entries.put(key, entry));
  for (const done of await Promise.all(putting)) expectDone(done);
  const stored = pages.map(
    ({ key, entry }): UsageChange => ({
      kind: 'stored',
      key,
      bytes: countEntryBytes(entry),
      usedAt: entry.cachedAt,
    }),
  );
  expectDone(await upkeep.usage.apply(stored));
}
await stores.close();

function expectDone(done: Done<unknown>): void {
  if (done.state === 'unavailable') throw new Error(done.reason);
}
