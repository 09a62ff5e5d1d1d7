// The same bytes of one host are kept once: counted, never mixed up, gone with the last page.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CODINGS, contentPath } from '../../src/adapters/files/body-path.ts';
import { dropIfLoose } from '../../src/adapters/files/content-files.ts';
import {
  createFileBodyStore,
  type FileBodyStore,
} from '../../src/adapters/files/create-file-body-store.ts';
import { systemClock } from '../../src/adapters/system/system-clock.ts';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import type { BodyRef, BodySet, Hasher } from '../../src/pipeline/ports.ts';
import { digestBodies } from '../../src/pipeline/store/digest-bodies.ts';
import {
  digestOf,
  digestsOf,
  listLoose,
  makeBodies,
  openBodyStore,
  refOf,
} from './stored-bodies.ts';
import { COLLISIONS } from './stored-entries.ts';

const BODIES = makeBodies('shared');
const DONE = { state: 'done', value: undefined };
const UNTIL = Number.MAX_SAFE_INTEGER;

let basePath: string;
let hasher: Hasher;
let store: FileBodyStore;
beforeEach(async () => {
  basePath = realpathSync(mkdtempSync(join(tmpdir(), 'edge-gateway-shared-')));
  hasher = await createHasher();
  store = await open();
});
afterEach(() => rmSync(basePath, { recursive: true, force: true }));

const open = () => openBodyStore(basePath);
const write = async (ref: BodyRef, bodies: BodySet = BODIES): Promise<void> => {
  expect(await store.write(ref, bodies, UNTIL)).toEqual(DONE);
};
const readAll = async (ref: BodyRef, bodies: BodySet): Promise<string[]> => {
  const states: string[] = [];
  for (const coding of ['identity', 'gzip', 'br'] as const) {
    const bytes = bodies[coding];
    if (bytes === undefined) continue;
    const found = await store.read(ref, coding, digestsOf(coding, digestOf(hasher, bytes)));
    const isRight = found.state === 'found' && found.value.equals(bytes);
    states.push(isRight ? 'right' : found.state);
  }
  return states;
};
/** By the digests of all codings, as an entry has them. */
const readWhole = async (ref: BodyRef, bodies: BodySet): Promise<string[]> => {
  const digests = digestBodies(bodies, hasher);
  const found = CODINGS.map((coding) => store.read(ref, coding, digests));
  return (await Promise.all(found)).map(({ state }) => state);
};
const forget = async (ref: BodyRef, { identity }: BodySet): Promise<void> => {
  expect(await store.forget(ref, digestOf(hasher, identity))).toEqual(DONE);
};
const contentFiles = (hostId = 7): string[] => {
  const folder = join(basePath, 'pages', String(hostId), '.bodies');
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((hex) =>
    readdirSync(join(folder, hex)).map((name) => join(folder, hex, name)),
  );
};
const copies = (bodies: BodySet, hostId = 7): number => {
  const content = { hostId, ...digestOf(hasher, bodies.identity) };
  const path = contentPath(join(basePath, 'pages'), content, 'identity');
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true ? stats.nlink - 1 : 0;
};
describe('bodies once per host', () => {
  test('pages with the same bytes share one file in every coding', async () => {
    for (let i = 0; i < 5; i += 1) await write(refOf(i));
    expect(contentFiles()).toHaveLength(3);
    expect(contentFiles().map((file) => statSync(file).nlink)).toEqual([6, 6, 6]);
    expect(copies(BODIES)).toBe(5);
    expect(store.sharedCount()).toBe(4);
    for (let i = 0; i < 5; i += 1) {
      expect(await readAll(refOf(i), BODIES)).toEqual(['right', 'right', 'right']);
    }
  });

  test('hosts share nothing', async () => {
    await write(refOf(1));
    await write(refOf(1, 8));
    expect([copies(BODIES), copies(BODIES, 8), store.sharedCount()]).toEqual([1, 1, 0]);
  });

  test('a page that is stored again unchanged counts once', async () => {
    await write(refOf(1));
    await write(refOf(1));
    await write(refOf(1), { identity: BODIES.identity });
    await write(refOf(1));
    expect([copies(BODIES), store.sharedCount()]).toEqual([1, 0]);
    expect(await readAll(refOf(1), BODIES)).toEqual(['right', 'right', 'right']);
    expect(readdirSync(join(basePath, 'pages', '.staging'))).toEqual([]);
  });

  test('a version whose place a next one has taken is found until it is forgotten', async () => {
    const next = { identity: makeBodies('next').identity };
    await write(refOf(1));
    await write(refOf(1), next);
    expect(await readWhole(refOf(1), BODIES)).toEqual(['found', 'found', 'found']);
    expect(await readAll(refOf(1), next)).toEqual(['right']);
    await write(refOf(2));
    await forget(refOf(1), BODIES);
    expect(await readAll(refOf(2), BODIES)).toEqual(['right', 'right', 'right']);
    await store.delete(refOf(2));
    expect(await readWhole(refOf(1), BODIES)).toEqual(['damaged', 'absent', 'absent']);
    await forget(refOf(1), BODIES);
    expect(await readAll(refOf(1), next)).toEqual(['right']);
  });

  test('a file that was taken away by hand is gone, whatever else has its bytes', async () => {
    await write(refOf(1));
    await write(refOf(2));
    rmSync(join(basePath, 'pages', '7', 'aa', `${refOf(1).hash}_1.html`));
    const digest = digestOf(hasher, BODIES.identity);
    const found = await store.read(refOf(1), 'identity', digestsOf('identity', digest));
    expect(found).toEqual({ state: 'absent' });
  });

  test('with the last page the content goes, by deleting or by a next version', async () => {
    const next = makeBodies('next');
    for (let i = 0; i < 3; i += 1) await write(refOf(i));
    await store.delete(refOf(0));
    await write(refOf(1), next);
    await forget(refOf(1), BODIES);
    expect(copies(BODIES)).toBe(1);
    expect(await readAll(refOf(2), BODIES)).toEqual(['right', 'right', 'right']);
    await store.delete(refOf(2));
    expect(copies(BODIES)).toBe(0);
    expect(contentFiles()).toHaveLength(3);
    await write(refOf(1), { identity: Buffer.from('no codings') });
    await forget(refOf(1), next);
    expect(contentFiles()).toHaveLength(1);
    await store.delete(refOf(1));
    expect(contentFiles()).toEqual([]);
  });

  test.each(COLLISIONS)('$name: other bytes of the same hash share nothing', async (pair) => {
    const [first, second] = [Buffer.from(pair.first), Buffer.from(pair.second)];
    expect(digestOf(hasher, first)).toEqual(digestOf(hasher, second));
    const bodiesOf = (identity: Buffer): BodySet => ({
      identity,
      br: brotliCompressSync(identity),
    });
    for (const [i, identity] of [first, second, first, second].entries()) {
      await write(refOf(i), bodiesOf(identity));
    }
    for (const [i, identity] of [first, second, first, second].entries()) {
      expect(await readAll(refOf(i), bodiesOf(identity))).toEqual(['right', 'right']);
    }
    expect([copies(bodiesOf(first)), store.sharedCount()]).toEqual([2, 1]);
    expect(await store.findCodings(7, second)).toEqual({});
    await store.delete(refOf(0));
    await store.delete(refOf(2));
    expect(contentFiles()).toEqual([]);
    expect(await readAll(refOf(3), bodiesOf(second))).toEqual(['right', 'right']);
  });

  test('several stores writing the same body at once', async () => {
    const stores = await Promise.all(Array.from({ length: 4 }, open));
    const refs = Array.from({ length: 40 }, (_, i) => refOf(i));
    const storeOf = (i: number): FileBodyStore => stores[i % stores.length] ?? store;
    const written = refs.map((ref, i) => storeOf(i).write(ref, BODIES, UNTIL));
    for (const done of await Promise.all(written)) expect(done.state).toBe('done');
    for (const ref of refs) expect(await readAll(ref, BODIES)).toEqual(['right', 'right', 'right']);
    expect(copies(BODIES)).toBe(40);
    expect(readdirSync(join(basePath, 'pages', '.staging'))).toEqual([]);
    const deleted = refs.map((ref, i) => storeOf(i).delete(ref));
    for (const done of await Promise.all(deleted)) expect(done.state).toBe('done');
  });

  test.each<[name: string, damage: (file: string) => void]>([
    ['turned', (file) => writeFileSync(file, Buffer.alloc(statSync(file).size))],
    ['cut', (file) => truncateSync(file, 10)],
    ['gone', (file) => rmSync(file)],
    ['a link', (file) => replace(file, () => symlinkSync('/etc/passwd', file))],
    ['a FIFO', (file) => replace(file, () => execFileSync('mkfifo', [file]))],
  ])('a content file that is %s spoils no new page and is made anew', async (_name, damage) => {
    await write(refOf(1));
    for (const file of contentFiles()) damage(file);
    await write(refOf(2));
    await write(refOf(3));
    expect(await readAll(refOf(2), BODIES)).toEqual(['right', 'right', 'right']);
    expect(await readAll(refOf(3), BODIES)).toEqual(['right', 'right', 'right']);
    expect(copies(BODIES)).toBe(2);
  });

  test('where no link can be made every page has a file of its own', async () => {
    await write(refOf(1));
    for (const file of contentFiles()) replace(file, () => mkdirSync(file));
    await write(refOf(2));
    await write(refOf(3));
    for (const i of [2, 3]) {
      expect(await readAll(refOf(i), BODIES)).toEqual(['right', 'right', 'right']);
    }
    expect([copies(BODIES), store.sharedCount()]).toEqual([0, 0]);
    await store.delete(refOf(2));
    expect(await readAll(refOf(3), BODIES)).toEqual(['right', 'right', 'right']);
  });

  test('a content folder that was replaced by a link: nothing is written through it', async () => {
    const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), 'edge-gateway-elsewhere-')));
    const warnings: unknown[] = [];
    const onWarning = (warning: unknown): void => void warnings.push(warning);
    store = await createFileBodyStore({ basePath, hasher, clock: systemClock, onWarning });
    mkdirSync(join(basePath, 'pages', '7'));
    symlinkSync(elsewhere, join(basePath, 'pages', '7', '.bodies'));
    const done = await store.write(refOf(1), BODIES, UNTIL);
    expect(done).toEqual({ state: 'unavailable', reason: 'elinked' });
    const left = readdirSync(elsewhere, { recursive: true, withFileTypes: true });
    expect(left.filter((one) => !one.isDirectory())).toEqual([]);
    rmSync(elsewhere, { recursive: true });
  });

  test('the codings of the same bytes are found, and only those', async () => {
    const { identity, gzip, br } = BODIES;
    expect(await store.findCodings(7, identity)).toEqual({});
    await write(refOf(1));
    expect(await store.findCodings(7, identity)).toEqual({ gzip, br });
    expect(await store.findCodings(8, identity)).toEqual({});
    const [file = ''] = contentFiles().filter((name) => name.endsWith('.br'));
    for (const bytes of [brotliCompressSync(Buffer.alloc(9_000_000)), br.subarray(9)]) {
      writeFileSync(file, bytes);
      expect(await store.findCodings(7, identity)).toEqual({ gzip });
    }
  });
});

test('any order of writing and deleting: each page has its bytes, each body its pages', async () => {
  const [pair] = COLLISIONS;
  const versions: readonly BodySet[] = [
    { identity: Buffer.from(pair.first) },
    { identity: Buffer.from(pair.second) },
    BODIES,
    { identity: BODIES.identity },
    makeBodies('other'),
  ];
  const step = fc.record({
    page: fc.nat({ max: 3 }),
    version: fc.option(fc.nat({ max: versions.length - 1 }), { nil: null }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
      const model = new Map<number, BodySet>();
      for (const { page, version } of steps) {
        const bodies = version === null ? undefined : versions[version];
        if (bodies === undefined) {
          const done = await store.delete(refOf(page));
          expect(done).toEqual({ state: 'done', value: model.delete(page) });
        } else {
          await write(refOf(page), bodies);
          model.set(page, bodies);
        }
      }
      for (const [page, bodies] of model) {
        expect(new Set(await readAll(refOf(page), bodies))).toEqual(new Set(['right']));
      }
      for (const [page] of model) await store.delete(refOf(page));
      const left = await listLoose(basePath);
      for (const { path } of left) await dropIfLoose(path);
      expect(contentFiles()).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

function replace(file: string, plant: () => void): void {
  const before = readFileSync(file);
  expect(before.length).toBeGreaterThan(0);
  rmSync(file);
  plant();
}
