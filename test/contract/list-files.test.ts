// What a sweep sees of the body files: every page's, and content that no page has.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FileBodyStore } from '../../src/adapters/files/create-file-body-store.ts';
import type { LooseContent, PageFile } from '../../src/adapters/files/list-files.ts';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import type { BodyRef, BodySet, Hasher } from '../../src/pipeline/ports.ts';
import { collectPages, digestOf, makeBodies, openBodyStore, refOf } from './stored-bodies.ts';

const BODIES = makeBodies('listed');

let basePath: string;
let hasher: Hasher;
let store: FileBodyStore;
beforeEach(async () => {
  basePath = realpathSync(mkdtempSync(join(tmpdir(), 'edge-gateway-listed-')));
  hasher = await createHasher();
  store = await openBodyStore(basePath);
});
afterEach(() => rmSync(basePath, { recursive: true, force: true }));

const write = async (ref: BodyRef, bodies: BodySet = BODIES): Promise<void> => {
  const done = await store.write(ref, bodies, Number.MAX_SAFE_INTEGER);
  expect(done.state).toBe('done');
};

describe('what lies in the store', () => {
  test('every file of every page, and content that no page has', async () => {
    await write(refOf(1));
    await write({ ...refOf(2, 8), dimensionId: 12 }, { identity: BODIES.identity });
    for (const name of ['x', '8/x', '8/aa/x', '8/.bodies/x']) {
      writeFileSync(join(basePath, 'pages', name), 'none of ours');
    }
    const files: PageFile[] = await collectPages(store.listPageFiles());
    const described = files.map(({ ref, coding, bytes, names }) => ({ ref, coding, bytes, names }));
    const sizeOf = { identity: BODIES.identity, gzip: BODIES.gzip, br: BODIES.br };
    expect(described).toHaveLength(4);
    expect(described).toEqual(
      expect.arrayContaining([
        ...(['identity', 'gzip', 'br'] as const).map((coding) => ({
          ref: refOf(1),
          coding,
          bytes: sizeOf[coding].length,
          names: 2,
        })),
        {
          ref: { ...refOf(2, 8), dimensionId: 12 },
          coding: 'identity',
          bytes: BODIES.identity.length,
          names: 2,
        },
      ]),
    );
    expect(await collectPages(store.listLooseContent())).toEqual([]);
    rmSync(join(basePath, 'pages', '7', 'aa'), { recursive: true });
    const loose: LooseContent[] = await collectPages(store.listLooseContent());
    const lengths = [BODIES.identity, BODIES.gzip, BODIES.br].map(({ length }) => length);
    expect(new Set(loose.map(({ bytes }) => bytes))).toEqual(new Set(lengths));
    expect(loose.map(({ hostId }) => hostId)).toEqual([7, 7, 7]);
    await write(refOf(3), { identity: BODIES.identity });
    const dropped = await Promise.all(loose.map((one) => store.dropLooseContent(one)));
    expect(dropped.filter((done) => done.state === 'done' && done.value)).toHaveLength(2);
    const digest = digestOf(hasher, BODIES.identity);
    expect(await store.read(refOf(3), 'identity', digest)).toMatchObject({ state: 'found' });
  });

  test('more files than are read at once', async () => {
    await Promise.all(Array.from({ length: 300 }, (_, i) => write(refOf(i))));
    const sizes: number[] = [];
    const refs = new Set<string>();
    for await (const some of store.listPageFiles()) {
      sizes.push(some.length);
      for (const { ref } of some) refs.add(ref.hash);
    }
    expect(sizes).toEqual([256, 256, 256, 132]);
    expect(refs.size).toBe(300);
  });

  test('of an empty store, nothing', async () => {
    rmSync(join(basePath, 'pages'), { recursive: true });
    expect(await collectPages(store.listPageFiles())).toEqual([]);
    expect(await collectPages(store.listLooseContent())).toEqual([]);
  });
});
