// A render service for the length of one test, its browser, and what both of them weigh.
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect } from 'vitest';
import { groupRssBytes, listGroup } from '../../src/renderer/browser/process-group.ts';
import { ownPrefix } from '../../src/renderer/folders/own-folder.ts';
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
  expect(foldersOf(process.pid)).toEqual([]);
}

/** The folders of a process, living or not, in the place that the tests' browsers have. */
export function foldersOf(pid: number, place = tmpdir()): readonly string[] {
  return readdirSync(place).filter((name) => name.startsWith(ownPrefix(pid)));
}

/** The browser's process id, as soon as there is one. */
export async function currentPid(browserPid: () => number | null): Promise<number> {
  await waitUntil('a browser runs', () => browserPid() !== null);
  return browserPid() ?? 0;
}

/** Memory in MiB; what the system does not tell is 0. */
export interface Weight {
  /** What only this browser has: other browsers on the machine don't make it lighter or heavier. */
  readonly browserOwn: number;
  /** With its part of what it shares with others. */
  readonly browserPss: number;
  /** Shared pages count once a process. */
  readonly browserRss: number;
  /** Of this process, in which the service runs. */
  readonly service: number;
}

export async function weigh(browserPid: () => number | null): Promise<Weight> {
  const group = await currentPid(browserPid);
  const maps = listGroup(group).map(readMaps);
  return {
    browserOwn: toMib(
      sum(maps.map((text) => sizeIn(text, 'Pss_Anon') + sizeIn(text, 'Pss_Shmem'))),
    ),
    browserPss: toMib(sum(maps.map((text) => sizeIn(text, 'Pss')))),
    browserRss: toMib(groupRssBytes(group)),
    service: toMib(process.memoryUsage().rss),
  };
}

/** How many times heavier the last third is than the first, on average. */
export function growthOf(values: readonly number[]): number {
  const third = Math.max(1, Math.floor(values.length / 3));
  return sum(values.slice(-third)) / Math.max(1, sum(values.slice(0, third)));
}

function readMaps(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  } catch {
    // It ended meanwhile, or its memory is not ours to look at.
    return '';
  }
}

/** Bytes of one line. */
function sizeIn(maps: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(maps)?.[1] ?? 0) * 1_024;
}

function toMib(bytes: number): number {
  return Math.round(bytes / 1_048_576);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
