// Sweeps of one process while another stores, and sweeps that are killed in the middle: nothing
// that is valid is ever lost, and the next sweep puts right what was left half-done.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/adapters/system/system-clock.ts';
import { sweepStore } from '../../src/pipeline/upkeep/sweep-store.ts';
import { verifyStore } from '../../src/pipeline/upkeep/verify-store.ts';
import { HOUR_MS } from '../contract/stored-entries.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import {
  lookAt,
  makeFolder,
  makePage,
  NO_PACE,
  openStore,
  removeFolder,
  type StoredPage,
  type StoredStore,
  storeBody,
  storePage,
  valueOf,
} from './stored-store.ts';

const TIMEOUT_MS = 90_000;
const PAGES = 40;
const KILLS = 4;

let store: StoredStore;
let children: ChildProcess[];
beforeEach(async () => {
  store = await openStore(makeFolder(), systemClock);
  children = [];
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await store.close();
  removeFolder(store.basePath);
});

interface Sweeper {
  readonly child: ChildProcess;
  readonly sweeps: () => number;
  readonly kill: () => Promise<void>;
}

const startSweeping = (aheadMs: number, ...more: readonly string[]): Sweeper => {
  const fixture = join(import.meta.dirname, 'fixtures', 'sweep-forever.ts');
  const args = ['--import', 'tsx', fixture, store.basePath, String(aheadMs), ...more];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  let sweeps = 0;
  child.stdout?.on('data', (dots: Buffer) => {
    sweeps += dots.length;
  });
  const ended = once(child, 'exit');
  return {
    child,
    sweeps: () => sweeps,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
};

/** A page for a moment, then the same page to stay: the sweep meets it in between. */
const storeTwice = async (i: number): Promise<StoredPage> => {
  const now = systemClock.now();
  const moment = makePage(store, i, { staleAt: now + 5, deleteAt: now + 10 });
  await storePage(store, moment);
  await wait(i % 20);
  return await storePage(store, makePage(store, i));
};

test('one process stores what another sweeps: no page is lost', {
  timeout: TIMEOUT_MS,
}, async () => {
  const sweeper = startSweeping(0);
  await waitUntil('the first sweep', () => sweeper.sweeps() > 0);
  const stored: StoredPage[] = [];
  for (let i = 0; i < PAGES; i += 1) {
    const page = await storeTwice(i);
    expect(await lookAt(store, page)).toBe('whole');
    stored.push(page);
  }
  const before = sweeper.sweeps();
  await waitUntil('another two sweeps', () => sweeper.sweeps() > before + 1);
  for (const page of stored) expect(await lookAt(store, page)).toBe('whole');
  await sweeper.kill();
  await store.notes.flush();
  const hosts = valueOf(await store.deps.usage.countHosts());
  expect(hosts).toMatchObject([{ hostId: 1, entries: PAGES }]);
});

test(`killed ${KILLS} times in the middle`, { timeout: TIMEOUT_MS }, async () => {
  const lives = ['long', 'short', 'bodiless', 'orphan'] as const;
  const pages = await Promise.all(
    Array.from({ length: 4 * PAGES }, async (_, i) => {
      const life = lives[i % 4] ?? 'long';
      const deleteAt = systemClock.now() + (life === 'short' ? 1 : 48) * HOUR_MS;
      const staleAt = systemClock.now() + 1;
      const page = makePage(store, i, { staleAt, deleteAt });
      if (life === 'orphan') await storeBody(store, page);
      else await storePage(store, page);
      if (life === 'bodiless') rmSync(bodyFileOf(page));
      return { life, page };
    }),
  );
  await store.notes.flush();
  for (let kill = 0; kill < KILLS; kill += 1) {
    const sweeper = startSweeping(24 * HOUR_MS);
    await waitUntil('something went', async () => {
      const states = await Promise.all(pages.map(({ page }) => lookAt(store, page)));
      return states.filter((state) => state === 'nothing').length > (kill * 3 * PAGES) / KILLS / 2;
    });
    await sweeper.kill();
    for (const { life, page } of pages) {
      if (life === 'long') expect(await lookAt(store, page)).toBe('whole');
    }
  }
  const ahead = await openStore(store.basePath, {
    now: () => systemClock.now() + 24 * HOUR_MS,
  });
  onTestFinished(ahead.close);
  expect(await sweepStore(ahead.deps, NO_PACE)).toMatchObject({ stoppedBy: null });
  const problems: unknown[] = [];
  const options = { checksBodies: true, repairs: false, pace: NO_PACE };
  const verified = await verifyStore(ahead.deps, {
    ...options,
    onProblem: (one) => problems.push(one),
  });
  expect(problems).toEqual([]);
  expect(valueOf(verified).hosts).toMatchObject([{ hostId: 1, entries: PAGES }]);
  const [counted] = valueOf(await ahead.deps.usage.countHosts());
  expect(counted).toEqual(valueOf(verified).hosts[0]);
});

function bodyFileOf({ ref: { hostId, hash } }: StoredPage): string {
  return join(store.basePath, 'pages', String(hostId), hash.slice(0, 2), `${hash}_1.html`);
}
