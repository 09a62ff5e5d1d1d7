// The embedded store on lmdb: the contract, and everything that may be wrong with its files (H26).
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createEmbeddedEntryStore } from '../../src/adapters/embedded/create-embedded-entry-store.ts';
import type { EmbeddedWarning } from '../../src/adapters/embedded/open-embedded.ts';
import { StoreOpenError } from '../../src/adapters/embedded/store-open-error.ts';
import { systemClock } from '../../src/adapters/system/system-clock.ts';
import { CLAIM_MS } from '../../src/pipeline/ports.ts';
import { runLimited } from '../helpers/run-limited.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { describeBodyClaims } from './body-claims.contract.ts';
import { describeEntryStore } from './entry-store.contract.ts';
import { openEmbeddedSubject } from './open-entry-stores.ts';
import { keyOf, makeEntry } from './stored-entries.ts';
import { createTestClock } from './test-clock.ts';

const makeFolder = (): string => mkdtempSync(join(tmpdir(), 'edge-gateway-embedded-'));

describeEntryStore('embedded', openEmbeddedSubject);
describeBodyClaims('embedded', openEmbeddedSubject);

test('claims that dead processes have left go when a store is opened', async () => {
  const clock = createTestClock();
  const subject = await openEmbeddedSubject(clock);
  onTestFinished(subject.dispose);
  const [old = '', young = ''] = ['0', '1'].map((digit) =>
    keyOf(makeEntry({ hash: digit.repeat(16) })),
  );
  await subject.store.claim(old);
  clock.advance(CLAIM_MS);
  await subject.store.claim(young);
  const other = await subject.openOther();
  await waitUntil('it is gone', async () => (await subject.readRaw(`claim:${old}`)) === null);
  expect(await subject.readRaw(`claim:${young}`)).toEqual(expect.any(String));
  await other.close();
});

describe('opening the embedded store', () => {
  let basePath: string;
  let warnings: EmbeddedWarning[];
  beforeEach(() => {
    basePath = makeFolder();
    warnings = [];
  });
  afterEach(() => rmSync(basePath, { recursive: true, force: true }));

  const openStore = () =>
    createEmbeddedEntryStore({
      basePath,
      clock: systemClock,
      onWarning: (warning) => warnings.push(warning),
    });
  const fillStore = async (): Promise<void> => {
    const store = openStore();
    const entries = Array.from({ length: 500 }, (_, i) =>
      makeEntry({ hash: i.toString(16).padStart(16, '0') }),
    );
    await Promise.all(entries.map((entry) => store.put(keyOf(entry), entry)));
    await store.close();
  };
  const file = (name: string): string => join(basePath, 'store', name);

  test('what was stored is there after closing and opening', async () => {
    await fillStore();
    const store = openStore();
    const key = keyOf(makeEntry({ hash: '0'.repeat(16) }));
    expect(await store.get(key)).toMatchObject({ state: 'found' });
    await store.close();
    expect(warnings).toEqual([]);
  });

  test.each<[name: string, reason: string | null, damage: () => void]>([
    ['wrong magic', 'wrong_magic', () => overwriteHead(file('data.mdb'), 'A'.repeat(8_192))],
    ['zeros', 'wrong_magic', () => writeFileSync(file('data.mdb'), Buffer.alloc(65_536))],
    ['a text', 'wrong_magic', () => writeFileSync(file('data.mdb'), 'hello')],
    ['second meta page gone', 'wrong_magic', () => truncateSync(file('data.mdb'), 4_096)],
    ['only meta pages left', 'truncated', () => truncateSync(file('data.mdb'), 8_192)],
    ['cut in half', 'truncated', () => cutInHalf(file('data.mdb'))],
    ['a folder in place of the file', 'not_a_file', () => replaceByFolder(file('data.mdb'))],
    ['a folder in place of the lock', 'not_a_file', () => replaceByFolder(file('lock.mdb'))],
    ['a file in place of the folder', 'not_a_file', () => replaceByFile(join(basePath, 'store'))],
    ['an empty data file', null, () => writeFileSync(file('data.mdb'), '')],
    ['a lock file of garbage', null, () => writeFileSync(file('lock.mdb'), 'x'.repeat(8_192))],
    ['no lock file', null, () => rmSync(file('lock.mdb'))],
  ])('%s: opens without help, set aside: %s', async (_name, reason, damage) => {
    await fillStore();
    damage();
    const store = openStore();
    const entry = makeEntry();
    expect(await store.put(keyOf(entry), entry)).toMatchObject({ state: 'done' });
    expect(await store.get(keyOf(entry))).toMatchObject({ state: 'found', value: entry });
    await store.close();
    const aside = readdirSync(basePath).filter((name) => name.startsWith('store.damaged-'));
    expect(aside).toHaveLength(reason === null ? 0 : 1);
    const told = reason === null ? [] : [{ kind: 'store_set_aside', reason }];
    expect(warnings).toMatchObject(told);
  });

  test('another data version is not touched and start-up says what to do', async () => {
    await fillStore();
    overwriteHead(file('data.mdb'), '\x03', 28);
    const before = readFileSync(file('data.mdb'));
    expect(catchOpen()).toMatchObject({
      code: 'store_other_version',
      message: expect.stringMatching(/data version 3.*move the folder away/),
    });
    expect(readFileSync(file('data.mdb')).equals(before)).toBe(true);
  });

  test('a base path that is a file', () => {
    writeFileSync(join(basePath, 'file'), '');
    const options = { basePath: join(basePath, 'file'), clock: systemClock, onWarning: () => {} };
    expect(() => createEmbeddedEntryStore(options)).toThrow(/store .*ENOTDIR.*storage\.base_path/);
  });

  test('a folder that may not be written', async () => {
    const { geteuid, seteuid } = process;
    const isRoot = geteuid?.() === 0;
    mkdirSync(join(basePath, 'store'), { mode: 0o500 });
    if (isRoot) seteuid?.(65_534);
    try {
      expect(catchOpen()).toMatchObject({
        code: 'store_not_writable',
        message: expect.stringMatching(/EACCES.*write access.*storage\.base_path/),
      });
    } finally {
      if (isRoot) seteuid?.(0);
    }
  });

  test('no room at start: one clear message, no crash', async () => {
    const { code, output } = await runWithFileLimit('100', 'open', basePath);
    expect(output).toMatch(/store_disk_full .*EFBIG.*storage\.base_path/);
    expect(code).toBe(0);
  });

  test('no room while running: writes are unavailable, reads go on, nothing crashes', async () => {
    const { code, output } = await runWithFileLimit('1000', 'fill', basePath);
    expect(output).toMatch(/warning store_failing write/);
    expect(output.match(/warning/g)).toHaveLength(1);
    expect(output).toMatch(/put unavailable\nget found\ncheck done\n/);
    expect(code).toBe(0);
    const store = openStore();
    expect(await store.get(keyOf(makeEntry()))).toMatchObject({ state: 'found' });
    await store.close();
    expect(warnings).toEqual([]);
  });

  function catchOpen(): unknown {
    try {
      openStore();
    } catch (error) {
      expect(error).toBeInstanceOf(StoreOpenError);
      return error;
    }
    throw new Error('it opened');
  }
});

const runWithFileLimit = (limitKiB: string, ...args: string[]) =>
  runLimited(['-f', limitKiB], join(import.meta.dirname, 'fixtures', 'full-disk.ts'), args);

function overwriteHead(path: string, text: string, at = 0): void {
  const bytes = readFileSync(path);
  bytes.write(text, at, 'latin1');
  writeFileSync(path, bytes);
}

function cutInHalf(path: string): void {
  truncateSync(path, Math.floor(statSync(path).size / 2));
}

function replaceByFolder(path: string): void {
  rmSync(path);
  mkdirSync(path);
}

function replaceByFile(path: string): void {
  rmSync(path, { recursive: true });
  writeFileSync(path, 'x');
}
