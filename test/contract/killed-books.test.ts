// Usage book and learned rules are written in transactions with a callback: a process that is killed
// in the middle of one must not keep another from going on, and leaves no half of one.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createEmbeddedUsageBook } from '../../src/adapters/embedded/create-embedded-usage-book.ts';
import { openEmbedded } from '../../src/adapters/embedded/open-embedded.ts';
import { systemClock } from '../../src/adapters/system/system-clock.ts';
import { parseCacheKey } from '../../src/core/key/cache-key.ts';
import type { HostUsage, UsageBook } from '../../src/pipeline/upkeep-ports.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const KILLS = 4;
const ENDLESS = 1_000_000;
const FIXTURE = join(import.meta.dirname, 'fixtures', 'keep-books.ts');

interface Writer {
  readonly child: ChildProcess;
  /** How many writes it has told of. */
  readonly written: () => number;
}

function startWriter(basePath: string, hostId: number, rounds: number): Writer {
  const args = ['--import', 'tsx', FIXTURE, basePath, String(hostId), String(rounds)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let written = 0;
  child.stdout.on('data', (dots: Buffer) => {
    written += dots.length;
  });
  return { child, written: () => written };
}

async function kill({ child }: Writer): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** By its rows, where the book counts by its sums. */
async function sumRows(book: UsageBook): Promise<readonly HostUsage[]> {
  const sums = new Map<number, HostUsage>();
  for await (const slice of book.list()) {
    if (slice.state === 'unavailable') throw new Error(slice.reason);
    for (const { key, bytes } of slice.value) {
      const hostId = parseCacheKey(key)?.hostId ?? 0;
      const before = sums.get(hostId) ?? { hostId, entries: 0, bytes: 0 };
      sums.set(hostId, { hostId, entries: before.entries + 1, bytes: before.bytes + bytes });
    }
  }
  return [...sums.values()];
}

test('one of two processes, again and again; the other goes on', async () => {
  const basePath = mkdtempSync(join(tmpdir(), 'edge-gateway-books-'));
  onTestFinished(() => rmSync(basePath, { recursive: true, force: true }));
  const survivor = startWriter(basePath, 1, ENDLESS);
  await waitUntil('it writes', () => survivor.written() > 0);
  for (let i = 1; i <= KILLS; i += 1) {
    const killed = startWriter(basePath, 2, ENDLESS);
    await waitUntil(`${i * i} writes of the next`, () => killed.written() >= i * i);
    await kill(killed);
    const before = survivor.written();
    await waitUntil('the other goes on', () => survivor.written() > before);
  }
  await kill(survivor);
  expect(await once(startWriter(basePath, 2, 3).child, 'exit')).toEqual([0, null]);
  const embedded = openEmbedded({ basePath, clock: systemClock, onWarning: () => undefined });
  const book = createEmbeddedUsageBook(embedded);
  const sums = await sumRows(book);
  expect(sums).toHaveLength(2);
  expect(await book.countHosts()).toEqual({ state: 'done', value: sums });
  await embedded.environment.close();
}, 90_000);
