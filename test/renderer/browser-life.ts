// A render service for the length of one test, its browser, and what both of them weigh.
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect } from 'vitest';
import { groupRssBytes, listGroup } from '../../src/renderer/browser/process-group.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { startTestRenderer, type TestRenderer } from './test-renderer.ts';

/** Starts a service, uses and closes it; none of its browsers' folders may be left then. */
export async function withRenderer(
  originUrl: string,
  options: Parameters<typeof startTestRenderer>[1],
  use: (renderer: TestRenderer) => Promise<void>,
): Promise<void> {
  const renderer = await startTestRenderer(originUrl, options);
  try {
    await use(renderer);
  } finally {
    await renderer.service.close();
  }
  const own = `edge-gateway-browser-${process.pid}-`;
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith(own))).toEqual([]);
}

/** The browser's process id, as soon as there is one. */
export async function currentPid(browserPid: () => number | null): Promise<number> {
  await waitUntil('a browser runs', () => browserPid() !== null);
  return browserPid() ?? 0;
}

/** Memory in MiB. */
export interface Weight {
  /** Shared pages divided among those that share them; where that is a secret, as `browserRss`. */
  readonly browserPss: number;
  readonly browserRss: number;
  /** Of this process, in which the service runs. */
  readonly service: number;
}

export async function weigh(browserPid: () => number | null): Promise<Weight> {
  const group = await currentPid(browserPid);
  const rss = groupRssBytes(group);
  return {
    browserPss: toMib(groupPssBytes(group) ?? rss),
    browserRss: toMib(rss),
    service: toMib(process.memoryUsage().rss),
  };
}

/** How many times heavier the last third is than the first, on average. */
export function growthOf(values: readonly number[]): number {
  const third = Math.max(1, Math.floor(values.length / 3));
  return sum(values.slice(-third)) / sum(values.slice(0, third));
}

/** null: the system does not tell. */
function groupPssBytes(group: number): number | null {
  const shares = listGroup(group).map(pssBytes);
  return shares.some((bytes) => bytes > 0) ? sum(shares) : null;
}

function pssBytes(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1_024;
  } catch {
    // It ended meanwhile, or its memory is not ours to look at.
    return 0;
  }
}

function toMib(bytes: number): number {
  return Math.round(bytes / 1_048_576);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
