// Fills a store with pages, in a process of its own: `entries-build.ts FILE COUNT [linked]`.
// Linked: only the first page with a body writes it, and the others get a name of its file.
import { linkSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bodyFolder, bodyPath } from '../../src/adapters/files/body-path.ts';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import { countEntryBytes } from '../../src/core/key/entry-bytes.ts';
import type { Done } from '../../src/pipeline/ports.ts';
import type { UsageChange } from '../../src/pipeline/upkeep-ports.ts';
import {
  type BenchPage,
  BODIES,
  makeBenchPage,
  makeBody,
  openBenchStores,
} from './entries-store.ts';

const BODIES_AT_ONCE = 32;
const ENTRIES_AT_ONCE = 2_048;
const [, , file = '', count = '0', how = 'written'] = process.argv;
const files = join(dirname(file), 'data', 'pages');

const hasher = await createHasher();
const digests = Array.from({ length: BODIES }, (_, i) => hasher.bytes(makeBody(i)));
const stores = await openBenchStores(file);
const { entries, bodies, upkeep } = stores;
for (let from = 0; from < Number(count); from += ENTRIES_AT_ONCE) {
  const length = Math.min(ENTRIES_AT_ONCE, Number(count) - from);
  const pages = Array.from({ length }, (_, i) => makeBenchPage(hasher, from + i, digests));
  if (how === 'linked' && from > 0) linkBodies(pages, from);
  else await writeBodies(pages, from);
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

/** @param first number of the first of these pages */
async function writeBodies(pages: readonly BenchPage[], first: number): Promise<void> {
  for (let i = 0; i < pages.length; i += BODIES_AT_ONCE) {
    const some = pages.slice(i, i + BODIES_AT_ONCE);
    const writing = some.map(({ ref }, j) =>
      bodies.write(ref, { identity: makeBody(first + i + j) }, Number.MAX_SAFE_INTEGER),
    );
    for (const done of await Promise.all(writing)) expectDone(done);
  }
}

function linkBodies(pages: readonly BenchPage[], first: number): void {
  for (const [i, { ref }] of pages.entries()) {
    const owner = makeBenchPage(hasher, (first + i) % BODIES, digests);
    mkdirSync(bodyFolder(files, ref), { recursive: true });
    linkSync(bodyPath(files, owner.ref, 'identity'), bodyPath(files, ref, 'identity'));
  }
}

function expectDone(done: Done<unknown>): void {
  if (done.state === 'unavailable') throw new Error(done.reason);
}
