// What sweep and `verify` are told of the body files: pages without files, files that nobody can be
// writing any more, and leftovers.
import { mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bodyPath } from '../../src/adapters/files/body-path.ts';
import type { FileBodyStore } from '../../src/adapters/files/create-file-body-store.ts';
import type { BodyRef, Done } from '../../src/pipeline/ports.ts';
import { listLoose, makeBodies, openBodyStore, refOf } from './stored-bodies.ts';

const HOUR_MS = 3_600_000;

let basePath: string;
let store: FileBodyStore;
beforeEach(async () => {
  basePath = realpathSync(mkdtempSync(join(tmpdir(), 'edge-gateway-body-files-')));
  store = await openBodyStore(basePath);
});
afterEach(() => rmSync(basePath, { recursive: true, force: true }));

const fileOf = (ref: BodyRef): string => bodyPath(join(basePath, 'pages'), ref, 'identity');
const write = async (ref: BodyRef, text = JSON.stringify(ref)): Promise<void> => {
  const done = await store.write(ref, makeBodies(text), Number.MAX_SAFE_INTEGER);
  expect(done.state).toBe('done');
};

describe('pages without files', () => {
  test.each([
    ['few in a folder: each is asked for', 3],
    ['many in a folder: its names are read', 20],
  ])('%s', async (_name, count) => {
    const refs = Array.from({ length: count }, (_, i) => refOf(i));
    for (const ref of refs.slice(1)) await write(ref);
    expect(valueOf(await store.files.findMissing(refs))).toEqual([refOf(0)]);
    await write(refOf(0));
    expect(valueOf(await store.files.findMissing(refs))).toEqual([]);
  });

  test('of no folder at all, and of none asked for', async () => {
    const refs = Array.from({ length: 20 }, (_, i) => refOf(i, 9));
    expect(valueOf(await store.files.findMissing(refs))).toEqual(refs);
    expect(valueOf(await store.files.findMissing([]))).toEqual([]);
  });
});

describe('files that nobody is writing any more', () => {
  const findOld = async (ageMs: number): Promise<readonly BodyRef[]> =>
    valueOf(await store.files.findOld([refOf(1), refOf(2)], Date.now() - ageMs));

  test('a file is as old as its newest name', async () => {
    await write(refOf(1));
    expect(await findOld(HOUR_MS)).toEqual([]);
    expect(await findOld(-HOUR_MS)).toEqual([refOf(1)]);
  });

  test('a body that several others share is old: its names tell nothing', async () => {
    for (const i of [1, 3, 4]) await write(refOf(i), 'the same');
    expect(await findOld(HOUR_MS)).toEqual([refOf(1)]);
  });

  test('no file is not an old one', async () => {
    expect(await findOld(-HOUR_MS)).toEqual([]);
  });
});

describe('leftovers', () => {
  test('content that no page has goes, when it is old enough', async () => {
    await write(refOf(1));
    rmSync(fileOf(refOf(1)));
    expect(valueOf(await store.files.sweepLeftovers(Date.now() - HOUR_MS))).toBe(0);
    expect(valueOf(await store.files.sweepLeftovers(Date.now() + HOUR_MS))).toBe(1);
    expect(await listLoose(basePath)).toEqual([]);
  });

  test('half-written files of dead processes go', async () => {
    await write(refOf(1));
    const path = join(basePath, 'pages', '.staging', 'ffffffff-1-ffffffff-1.tmp');
    writeFileSync(path, 'half');
    expect(valueOf(await store.files.sweepLeftovers(0))).toBe(0);
    const old = (Date.now() - 2 * HOUR_MS) / 1_000;
    utimesSync(path, old, old);
    expect(valueOf(await store.files.sweepLeftovers(0))).toBe(1);
  });
});

function valueOf<T>(done: Done<T>): T {
  if (done.state === 'unavailable') throw new Error(done.reason);
  return done.value;
}
