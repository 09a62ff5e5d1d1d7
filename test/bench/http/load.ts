// Load on one server by wrk, from the other core, and what it cost the server: processor time of
// all its processes, from the kernel's books.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { cpuSeconds } from '../process-tree.ts';
import type { Server } from './pinned.ts';

const run = promisify(execFile);

export interface LoadPlan {
  readonly target: string;
  readonly userAgent: string;
  readonly coding: 'identity' | 'br';
  readonly connections: number;
  readonly seconds: number;
  /** A file for wrk, by which its connections pause; absent: as fast as answers come. */
  readonly pace?: string;
}

/** How long a paced connection pauses between requests, on the average. */
export const PAUSE_MS = 10;

/** Pauses of 5 to 15 ms, so that connections don't ask in step. */
export const PACE = `function delay() return math.random(${PAUSE_MS / 2}, ${PAUSE_MS * 1.5}) end\n`;

export interface LoadRound {
  readonly requests: number;
  /** Processor time of the server for each request. */
  readonly cpuMicros: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers other than 200, and what broke. */
  readonly wrong: number;
}

export async function loadServer(server: Server, plan: LoadPlan): Promise<LoadRound> {
  const before = cpuSeconds(server.pid);
  const { stdout } = await run('taskset', [
    '-c',
    '1',
    'wrk',
    '-t1',
    `-c${plan.connections}`,
    `-d${plan.seconds}s`,
    '--latency',
    '-H',
    'Host: bench.test',
    '-H',
    `User-Agent: ${plan.userAgent}`,
    '-H',
    `Accept-Encoding: ${plan.coding}`,
    ...(plan.pace === undefined ? [] : ['-s', plan.pace]),
    `http://127.0.0.1:${server.port}${plan.target}`,
  ]);
  const cpu = cpuSeconds(server.pid) - before;
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1] ?? Number.NaN);
  const perSecond = Number(/Requests\/sec: +([\d.]+)/.exec(stdout)?.[1] ?? Number.NaN);
  const broken = [...stdout.matchAll(/(?:connect|read|write|timeout) (\d+)/g)];
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0);
  return {
    requests,
    cpuMicros: (cpu * 1e6) / requests,
    perSecond,
    p50Ms: readTime(/50% +([\d.]+)(us|ms|s)/.exec(stdout)),
    p99Ms: readTime(/99% +([\d.]+)(us|ms|s)/.exec(stdout)),
    wrong: refused + broken.reduce((sum, [, count]) => sum + Number(count), 0),
  };
}

const UNITS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1_000 };

function readTime(match: RegExpExecArray | null): number {
  return Number(match?.[1] ?? Number.NaN) * (UNITS[match?.[2] ?? ''] ?? Number.NaN);
}
