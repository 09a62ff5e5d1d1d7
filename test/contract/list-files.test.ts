// What a sweep sees of the body files: every page's, and content that no page has.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dropIfLoose } from '../../src/adapters/files/content-files.ts';
import type { FileBodyStore } from '../../src/adapters/files/create-file-body-store.ts';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import type { BodyRef, BodySet, Hasher } from '../../src/pipeline/ports.ts';
import {
  digestOf,
  digestsOf,
  listLoose,
  makeBodies,
  openBodyStore,
  refOf,
} from './stored-bodies.ts';

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

const listRefs = async (): Promise<readonly BodyRef[]> => {
  const all: BodyRef[] = [];
  for await (const page of store.files.list()) {
    if (page.state === 'unavailable') throw new Error(page.reason);
    all.push(...page.value);
  }
  return all;
};

describe('what lies in the store', () => {
  test('every page that has files, and content that no page has', async () => {
    await write(refOf(1));
    await write({ ...refOf(2, 8), dimensionId: 12 }, { identity: BODIES.identity });
    for (const name of ['x', '8/x', '8/aa/x', '8/.bodies/x']) {
      writeFileSync(join(basePath, 'pages', name), 'none of ours');
    }
    const refs = await listRefs();
    expect(refs).toHaveLength(2);
    expect(refs).toEqual(expect.arrayContaining([refOf(1), { ...refOf(2, 8), dimensionId: 12 }]));
    expect(await listLoose(basePath)).toEqual([]);
    rmSync(join(basePath, 'pages', '7', 'aa'), { recursive: true });
    const loose = await listLoose(basePath);
    const lengths = [BODIES.identity, BODIES.gzip, BODIES.br].map(({ length }) => length);
    expect(new Set(loose.map(({ bytes }) => bytes))).toEqual(new Set(lengths));
    expect(loose.map(({ hostId }) => hostId)).toEqual([7, 7, 7]);
    await write(refOf(3), { identity: BODIES.identity });
    const dropped = await Promise.all(loose.map(({ path }) => dropIfLoose(path)));
    expect(dropped.filter(Boolean)).toHaveLength(2);
    const digest = digestOf(hasher, BODIES.identity);
    expect(await store.read(refOf(3), 'identity', digestsOf('identity', digest))).toMatchObject({
      state: 'found',
    });
  });

  test('more files than are read at once', async () => {
    await Promise.all(Array.from({ length: 300 }, (_, i) => write(refOf(i))));
    expect(new Set((await listRefs()).map(({ hash }) => hash)).size).toBe(300);
  });

  test('of an empty store, nothing', async () => {
    rmSync(join(basePath, 'pages'), { recursive: true });
    expect(await listRefs()).toEqual([]);
    expect(await listLoose(basePath)).toEqual([]);
  });
});
