// kill -9 in the middle of a thousand stores, again and again: afterwards everything opens without
// help, whatever is found is whole, and nothing half-written stays.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dropIfLoose } from '../../src/adapters/files/content-files.ts';
import { createFileBodyStore } from '../../src/adapters/files/create-file-body-store.ts';
import { connectRedisStores } from '../../src/adapters/redis/connect-redis-stores.ts';
import { systemClock } from '../../src/adapters/system/system-clock.ts';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import type { Entry } from '../../src/pipeline/ports.ts';
import { createPurgeJournal } from '../../src/pipeline/purge/purge-journal.ts';
import { createPageStore } from '../../src/pipeline/store/page-store.ts';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { isWholeBody, makeKilledDraft, PAGES, WRITERS } from './killed-pages.ts';
import { openEmbeddedStores, PATIENCE_MS } from './open-entry-stores.ts';
import { listLoose } from './stored-bodies.ts';

const KILLS = 3;
const TIMEOUT_MS = 120_000;

interface Census {
  readonly found: number;
  readonly dropped: number;
  readonly absent: number;
  /** Killed before its codings were added: whole all the same. */
  readonly uncoded: number;
}

function describeKilled(name: string, redisUrl: () => string): void {
  describe(`killed while storing over ${name}`, () => {
    let basePath: string;
    let children: ChildProcess[];
    beforeEach(() => {
      basePath = mkdtempSync(join(tmpdir(), 'edge-gateway-killed-'));
      children = [];
    });
    afterEach(() => {
      for (const child of children) child.kill('SIGKILL');
      rmSync(basePath, { recursive: true, force: true });
    });

    const startStoring = (version: string, rounds = 1): ChildProcess => {
      const fixture = join(import.meta.dirname, 'fixtures', 'store-pages.ts');
      const args = ['--import', 'tsx', fixture, basePath, redisUrl(), version, String(rounds)];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      children.push(child);
      return child;
    };
    const takeCensus = () => censusOf(basePath, redisUrl());

    test(`${KILLS} times at any moment`, { timeout: TIMEOUT_MS }, async () => {
      for (let kill = 0; kill < KILLS; kill += 1) {
        const child = startStoring(`v${'x'.repeat(kill)}`);
        await killAfter(child, 1 + Math.floor(Math.random() * PAGES * 0.6));
        const census = await takeCensus();
        expect(census.dropped).toBeLessThanOrEqual(WRITERS);
        expect(census.found).toBeGreaterThan(0);
      }
      expect(await once(startStoring('last'), 'exit')).toEqual([0, null]);
      expect(await takeCensus()).toEqual({ found: PAGES, dropped: 0, absent: 0, uncoded: 0 });
    });

    test('one of two processes; the other goes on', { timeout: TIMEOUT_MS }, async () => {
      const survivor = startStoring('survivor', 2);
      const exit = once(survivor, 'exit');
      for (const version of ['a', 'bb']) await killAfter(startStoring(version), PAGES / 4);
      survivor.stdout?.resume();
      expect(await exit).toEqual([0, null]);
      const census = await takeCensus();
      expect(census.found + census.dropped).toBe(PAGES);
      expect(census.found).toBeGreaterThan(PAGES / 2);
    });
  });
}

describeKilled('the embedded store', () => '');

describeWithRedis('kill -9', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  describeKilled('redis', () => server.url);
});

/** Kills a child once it has stored so many pages. */
async function killAfter(child: ChildProcess, pages: number): Promise<void> {
  let stored = 0;
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (dots: Buffer) => {
      stored += dots.length;
      if (stored >= pages) resolve();
    });
    child.once('exit', (code) => reject(new Error(`ended by itself: ${code}`)));
  });
  child.removeAllListeners('exit');
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Starts up as the gateway does and reads every page in every coding. */
async function censusOf(basePath: string, redisUrl: string): Promise<Census> {
  const clock = systemClock;
  const hasher = await createHasher();
  const onWarning = (warning: unknown): never => {
    throw new Error(JSON.stringify(warning));
  };
  const redisOptions = { clock, onWarning, bodies: null, timeoutMs: PATIENCE_MS };
  const { entries, purgeLog } =
    redisUrl === ''
      ? openEmbeddedStores({ basePath, clock, onWarning })
      : await connectRedisStores({ kind: 'single', url: redisUrl }, redisOptions);
  const bodies = await createFileBodyStore({ basePath, hasher, clock, onWarning });
  await bodies.sweepLeftovers();
  expect(readdirSync(join(basePath, 'pages', '.staging'))).toEqual([]);
  const pages = createPageStore({
    entries,
    bodies,
    journal: createPurgeJournal(purgeLog),
    hasher,
    clock,
    memoryBytesMax: 0,
    onEvent: () => undefined,
  });
  const census = { found: 0, dropped: 0, absent: 0, uncoded: 0 };
  const take = async (i: number): Promise<void> => {
    const { key, ref, url } = makeKilledDraft(hasher, i, '');
    const found = await pages.lookUp(key, ref, url);
    if (found.state === 'unavailable') throw new Error(found.reason);
    if (found.state === 'absent') census.absent += 1;
    else {
      census[await readWhole(found.entry)] += 1;
      if (!isCoded(found.entry)) census.uncoded += 1;
    }
  };
  const readWhole = async (entry: Entry): Promise<'found' | 'dropped'> => {
    const decoders = {
      identity: (bytes: Buffer) => bytes,
      gzip: gunzipSync,
      br: brotliDecompressSync,
    };
    for (const coding of ['identity', 'gzip', 'br'] as const) {
      if (entry.bodies[coding] === undefined) continue;
      const body = await pages.readBody(entry, coding);
      if (body.state === 'unavailable') throw new Error(body.reason);
      if (body.state !== 'found') return 'dropped';
      expect(isWholeBody(entry.url, decoders[coding](body.value))).toBe(true);
    }
    return 'found';
  };
  const isCoded = ({ bodies: { gzip, br } }: Entry): boolean =>
    gzip !== undefined && br !== undefined;
  for (let from = 0; from < PAGES; from += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, i) => take(from + i)));
  }
  expect(readdirSync(basePath).sort()).toEqual(redisUrl === '' ? ['pages', 'store'] : ['pages']);
  const loose = await listLoose(basePath);
  for (const { path } of loose) expect(await dropIfLoose(path)).toBe(true);
  expect(await listLoose(basePath)).toEqual([]);
  await entries.close();
  return census;
}
