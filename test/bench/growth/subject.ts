// One gateway of the growth bench: its store is filled, its page stored, and it is started anew,
// the way it would be after a night: with everything on, and nothing in memory yet.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
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
}

const STARTS = 3;
const SWEPT_CHECK_MS = 1_000;
const SWEPT_WAIT_MS_MAX = 480_000;

/** Makes one; whoever does stops its server. */
export async function openSubject(column: Column, setting: Setting): Promise<Subject> {
  const place = await writeGateway(setting, describeColumn(column, setting));
  if (column.pages > 0) await fillStore(place, column.pages);
  const first = await startGatewayOf(column.name, place);
  await askPage(first, /fwd=uri-miss/);
  await first.stop();
  const times: number[] = [];
  for (;;) {
    const beganAt = performance.now();
    const server = await startGatewayOf(column.name, place);
    await askPage(server, /; hit/);
    times.push(performance.now() - beganAt);
    if (times.length === STARTS) return { column, place, server, startMs: median(times) };
    await server.stop();
  }
}

/** Waits for the first sweep after the start. */
export async function waitForSweep({ column, place }: Subject): Promise<void> {
  const deadline = performance.now() + SWEPT_WAIT_MS_MAX;
  while (!readFileSync(join(place.folder, 'log'), 'utf8').includes('"msg":"swept"')) {
    if (performance.now() > deadline) throw new Error(`${column.name}: not swept`);
    await wait(SWEPT_CHECK_MS);
  }
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
