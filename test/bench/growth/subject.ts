// One gateway of the growth bench: its store is filled, its page stored, and it is started anew,
// the way it would be after a night: with everything on, and nothing in memory yet.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  type GatewayPlace,
  type Setting,
  startGatewayOf,
  writeGateway,
} from '../http/contenders.ts';
import type { Server } from '../http/pinned.ts';
import { targetOf } from '../http/site.ts';
import { cpuSeconds } from '../process-tree.ts';
import { median } from '../report.ts';
import { type Column, describeColumn } from './columns.ts';

const run = promisify(execFile);

export const TARGET = targetOf(20);
export const CRAWLER = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

export interface Subject {
  readonly column: Column;
  readonly place: GatewayPlace;
  readonly server: Server;
  /** From the start of the process to the end of its first answer, a stored page. */
  readonly startMs: number;
  /** What of it was work of the processor: on a machine that has other work too, it says more. */
  readonly startCpuMs: number;
  /** By the clock of `performance`. */
  readonly startedAt: number;
}

const STARTS = 3;
/** A minute after the start, more or less. */
const FIRST_SWEEP_MS_MIN = 54_000;
const FIRST_SWEEP_MS_MAX = 66_000;
const SWEEPING_MS = 30_000;

/** Makes one; whoever does stops its server. */
export async function openSubject(column: Column, setting: Setting): Promise<Subject> {
  const place = await writeGateway(setting, describeColumn(column, setting));
  if (column.pages > 0) await fillStore(place, column.pages);
  const first = await startGatewayOf(column.name, place);
  await askPage(first, /fwd=uri-miss/);
  await first.stop();
  const times: number[] = [];
  const cpuTimes: number[] = [];
  for (;;) {
    const startedAt = performance.now();
    const server = await startGatewayOf(column.name, place);
    await askPage(server, /; hit/);
    times.push(performance.now() - startedAt);
    cpuTimes.push(cpuSeconds(server.pid) * 1_000);
    if (times.length === STARTS) {
      const [startMs, startCpuMs] = [median(times), median(cpuTimes)];
      return { column, place, server, startMs, startCpuMs, startedAt };
    }
    await server.stop();
  }
}

/** Until the gateway has been at its first sweep for a while; a whole one takes long. */
export async function waitForSweeping({ startedAt }: Subject): Promise<void> {
  await wait(Math.max(0, startedAt + FIRST_SWEEP_MS_MAX + SWEEPING_MS - performance.now()));
}

/** Whether the first sweep may have begun. */
export function mayBeSwept({ startedAt }: Subject): boolean {
  return performance.now() > startedAt + FIRST_SWEEP_MS_MIN;
}

async function fillStore({ file }: GatewayPlace, pages: number): Promise<void> {
  const script = join(import.meta.dirname, '..', 'entries-build.ts');
  await run(process.execPath, ['--import', 'tsx', script, file, String(pages), 'linked']);
}

async function askPage({ name, port }: Server, expected: RegExp): Promise<void> {
  const headers = { host: 'bench.test', 'user-agent': CRAWLER };
  const asking = get({ port, path: TARGET, headers, agent: false });
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  const status = String(answer.headers['cache-status']);
  if (!expected.test(status)) throw new Error(`${name}: ${answer.statusCode} ${status}`);
}
