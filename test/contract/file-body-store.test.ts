// Bodies in files: the contract, then what may happen to files and disks (attacks.md H02–H14).
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  createFileBodyStore,
  type FileBodyStore,
  type FileWarning,
} from '../../src/adapters/files/create-file-body-store.ts';
import { systemClock } from '../../src/adapters/system/system-clock.ts';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import type { BodyRef, Hasher } from '../../src/pipeline/ports.ts';
import { runLimited } from '../helpers/run-limited.ts';
import { describeBodyStore } from './body-store.contract.ts';
import { digestOf, digestsOf, makeBodies } from './stored-bodies.ts';
import { createTestClock, type TestClock } from './test-clock.ts';

const REF: BodyRef = { hostId: 7, dimensionId: 2, hash: 'ab23456789abcdef' };
const BODIES = makeBodies('page');
const IDENTITY = BODIES.identity;

const makeFolder = (): string => mkdtempSync(join(tmpdir(), 'edge-gateway-bodies-'));
const throwWarning = (warning: FileWarning): never => {
  throw new Error(JSON.stringify(warning));
};

describeBodyStore('files', async () => {
  const basePath = makeFolder();
  const hasher = await createHasher();
  const options = { basePath, hasher, clock: systemClock, onWarning: throwWarning };
  return {
    store: await createFileBodyStore(options),
    dispose: async () => rmSync(basePath, { recursive: true, force: true }),
  };
});

describe('bodies in files', () => {
  let basePath: string;
  let elsewhere: string;
  let hasher: Hasher;
  let clock: TestClock;
  let warnings: FileWarning[];
  let store: FileBodyStore;
  let path: string;
  beforeEach(async () => {
    basePath = realpathSync(makeFolder());
    elsewhere = realpathSync(makeFolder());
    hasher = await createHasher();
    clock = createTestClock();
    warnings = [];
    store = await open();
    path = join(basePath, 'pages', '7', 'ab', 'ab23456789abcdef_2.html');
  });
  afterEach(() => {
    rmSync(basePath, { recursive: true, force: true });
    rmSync(elsewhere, { recursive: true, force: true });
  });

  const open = () =>
    createFileBodyStore({
      basePath,
      hasher,
      clock,
      onWarning: (warning) => void warnings.push(warning),
    });
  const read = () => store.read(REF, 'identity', digestsOf('identity', digestOf(hasher, IDENTITY)));
  const write = () => store.write(REF, BODIES, Date.now() + 3_600_000);
  const staged = () => readdirSync(join(basePath, 'pages', '.staging'));

  test('names and places of the files', async () => {
    await write();
    expect(readFileSync(path).equals(IDENTITY)).toBe(true);
    expect(readdirSync(dirname(path)).sort()).toEqual([
      'ab23456789abcdef_2.html',
      'ab23456789abcdef_2.html.br',
      'ab23456789abcdef_2.html.gz',
    ]);
    expect(staged()).toEqual([]);
    expect(lstatSync(path).mode & 0o007).toBe(0);
  });

  test.each([
    { ...REF, hash: '../../../../etc/x' },
    { ...REF, hash: 'AB23456789ABCDEF' },
    { ...REF, hostId: -1 },
    { ...REF, dimensionId: 1.5 },
  ])('never makes a path of %j', async (ref) => {
    await expect(store.write(ref, BODIES, Date.now() + 3_600_000)).rejects.toThrow(RangeError);
    await expect(store.delete(ref)).rejects.toThrow(RangeError);
    expect(readdirSync(join(basePath, 'pages'))).toEqual([]);
  });

  test.each<[name: string, plant: () => void]>([
    ['a link to another file', () => symlinkSync('/etc/passwd', path)],
    ['a link to the same bytes', () => symlinkSync(makeCopy(), path)],
    ['a link to nowhere', () => symlinkSync(join(elsewhere, 'nothing'), path)],
    ['a FIFO', () => execFileSync('mkfifo', [path])],
    ['a folder', () => mkdirSync(path)],
    ['a folder with files', () => mkdirSync(join(path, 'more'), { recursive: true })],
  ])('%s in place of the body: damaged, removed, written anew', async (_name, plant) => {
    await write();
    rmSync(path);
    plant();
    expect(await read()).toEqual({ state: 'damaged', reason: 'not_a_plain_file' });
    expect(existsSync(path)).toBe(false);
    expect(await read()).toEqual({ state: 'absent' });
    plant();
    await write();
    expect(await read()).toMatchObject({ state: 'found' });
    expect(readdirSync(elsewhere).every((name) => name === 'copy')).toBe(true);
  });

  test('a second name of a file: its bytes decide, and nothing is written through it', async () => {
    await write();
    rmSync(path);
    linkSync(makeCopy(), path);
    expect(await read()).toMatchObject({ state: 'found' });
    rmSync(path);
    writeFileSync(join(elsewhere, 'other'), 'other');
    linkSync(join(elsewhere, 'other'), path);
    expect(await read()).toEqual({ state: 'found', value: IDENTITY });
    await store.forget(REF, digestOf(hasher, IDENTITY));
    expect(await read()).toEqual({ state: 'damaged', reason: 'wrong_length' });
    await write();
    expect(await read()).toMatchObject({ state: 'found' });
    expect(readFileSync(join(elsewhere, 'other'), 'utf8')).toBe('other');
  });

  test('a file of somebody else is no body', async () => {
    await write();
    if (process.geteuid?.() !== 0) return;
    chownSync(path, 65_534, 65_534);
    expect(await read()).toEqual({ state: 'damaged', reason: 'not_a_plain_file' });
    expect(await write()).toMatchObject({ state: 'done' });
    expect(await read()).toMatchObject({ state: 'found' });
  });

  test.each<[name: string, reason: string, bytes: () => Buffer]>([
    ['empty', 'wrong_length', () => Buffer.alloc(0)],
    ['zeros of the right length', 'wrong_hash', () => Buffer.alloc(IDENTITY.length)],
    ['one bit turned', 'wrong_hash', () => turnBit(IDENTITY)],
    ['cut', 'wrong_length', () => IDENTITY.subarray(0, -1)],
    ['longer', 'wrong_length', () => Buffer.concat([IDENTITY, Buffer.from('x')])],
    ['the compressed one', 'wrong_length', () => BODIES.gzip],
  ])('a file that is %s is damaged: %s', async (_name, reason, bytes) => {
    await write();
    writeFileSync(path, bytes());
    expect(await read()).toEqual({ state: 'damaged', reason });
    await write();
    expect(await read()).toMatchObject({ state: 'found' });
  });

  test('a replaced file that is being read stays whole', async () => {
    const big = Buffer.alloc(8_000_000, 1);
    await store.write(REF, { identity: big }, Date.now() + 3_600_000);
    const reading = store.read(REF, 'identity', digestsOf('identity', digestOf(hasher, big)));
    await store.write(REF, { identity: Buffer.from('next') }, Date.now() + 3_600_000);
    expect(['found', 'damaged']).toContain((await reading).state);
  });

  test('a folder that was replaced by a link: nothing is written through it', async () => {
    await write();
    rmSync(dirname(path), { recursive: true });
    symlinkSync(elsewhere, dirname(path));
    expect(await write()).toEqual({ state: 'unavailable', reason: 'elinked' });
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(staged()).toEqual([]);
    expect(warnings).toEqual([{ kind: 'bodies_failing', reason: 'elinked' }]);
  });

  test('the staging folder replaced by a link: the same', async () => {
    await write();
    rmSync(join(basePath, 'pages', '.staging'), { recursive: true });
    symlinkSync(elsewhere, join(basePath, 'pages', '.staging'));
    expect(await write()).toEqual({ state: 'unavailable', reason: 'elinked' });
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test('a base path that is a link is the operator’s choice', async () => {
    const link = join(elsewhere, 'link');
    symlinkSync(basePath, link);
    const linked = await createFileBodyStore({
      basePath: link,
      hasher,
      clock,
      onWarning: throwWarning,
    });
    expect(await linked.write(REF, BODIES, Date.now() + 3_600_000)).toMatchObject({
      state: 'done',
    });
    expect(await read()).toMatchObject({ state: 'found' });
  });

  test('everything deleted while running: absent, then written anew', async () => {
    await write();
    rmSync(basePath, { recursive: true });
    expect(await read()).toEqual({ state: 'absent' });
    expect(await write()).toMatchObject({ state: 'done' });
    expect(await read()).toMatchObject({ state: 'found' });
    rmSync(basePath, { recursive: true });
    expect(await store.check()).toMatchObject({ state: 'done' });
    expect(await store.sweepLeftovers()).toBe(0);
  });

  test('a failing disk: one warning, a pause, and it recovers by itself', async () => {
    rmSync(join(basePath, 'pages'), { recursive: true });
    writeFileSync(join(basePath, 'pages'), 'in the way');
    const refused = { state: 'unavailable', reason: 'enotdir' };
    expect(await write()).toEqual(refused);
    rmSync(join(basePath, 'pages'));
    for (let i = 0; i < 5; i += 1) expect(await write()).toEqual(refused);
    expect(await store.check()).toEqual(refused);
    expect(existsSync(join(basePath, 'pages'))).toBe(false);
    clock.advance(5_000);
    expect(await write()).toMatchObject({ state: 'done' });
    expect(await read()).toMatchObject({ state: 'found' });
    expect(warnings).toEqual([
      { kind: 'bodies_failing', reason: 'enotdir' },
      { kind: 'bodies_recovered' },
    ]);
  });

  test.each([
    ['no-room', ['-f', '64'], 'write efbig'],
    ['no-files', ['-n', '200'], 'write emfile'],
  ])('%s: unavailable, one warning, nothing left behind', async (mode, limit, expected) => {
    await write();
    const fixture = join(import.meta.dirname, 'fixtures', 'failing-bodies.ts');
    const { code, output } = await runLimited(limit, fixture, [mode, basePath]);
    expect(output).toContain(expected);
    expect(output.match(/warning/g)).toHaveLength(1);
    expect(code).toBe(0);
    expect(staged()).toEqual([]);
    expect(await read()).toMatchObject({ state: 'found' });
  });

  test('the sweep takes what dead processes left, and nothing of living ones', async () => {
    await write();
    const machine = hasher.text(hostname()).slice(0, 8);
    const other = machine === '00000000' ? '11111111' : '00000000';
    const dead = deadPid();
    const files = [
      { name: `${machine}-${dead}-01234567-1.tmp`, isSwept: true },
      { name: `${machine}-${process.pid}-01234567-1.tmp`, isSwept: true },
      { name: `${machine}-${process.ppid}-01234567-1.tmp`, isSwept: false },
      { name: `${other}-${dead}-01234567-1.tmp`, isSwept: false },
      { name: `${other}-${dead}-01234567-2.tmp`, isSwept: true, isOld: true },
      { name: 'something', isSwept: false },
      { name: 'something-old', isSwept: true, isOld: true },
    ];
    for (const { name, isOld } of files) {
      const file = join(basePath, 'pages', '.staging', name);
      writeFileSync(file, 'half');
      const seconds = clock.now() / 1000 - (isOld === true ? 3_700 : 0);
      utimesSync(file, seconds, seconds);
    }
    const second = await open();
    expect(await second.sweepLeftovers()).toBe(files.filter((file) => file.isSwept).length);
    const kept = files.filter((file) => !file.isSwept).map((file) => file.name);
    expect(staged().sort()).toEqual(kept.sort());
    expect(await read()).toMatchObject({ state: 'found' });
  });

  test('a base path that can’t be a folder is refused at start', async () => {
    writeFileSync(join(elsewhere, 'file'), '');
    const options = { basePath: join(elsewhere, 'file'), hasher, clock, onWarning: throwWarning };
    await expect(createFileBodyStore(options)).rejects.toThrow('ENOTDIR');
  });

  function makeCopy(): string {
    const copy = join(elsewhere, 'copy');
    writeFileSync(copy, IDENTITY);
    return copy;
  }
});

function turnBit(bytes: Buffer): Buffer {
  const turned = Buffer.from(bytes);
  turned[100] = (turned[100] ?? 0) ^ 1;
  return turned;
}

/** The pid of a process that has ended. */
function deadPid(): number {
  return Number(execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }));
}
