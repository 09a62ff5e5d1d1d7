// The two render services of the bench: each a child process with a browser of its own, asked over
// HTTP, and ended with everything below it.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../helpers/free-port.ts';
import { isAlive } from '../helpers/is-alive.ts';
import { buildRequest, readAnswer } from '../renderer/test-renderer.ts';
import { listTree } from './process-tree.ts';

/** What a child process is told. */
export interface Orders {
  readonly origin: string;
  readonly executablePath: string;
  readonly tabs: number;
  /** A folder of its own; removed at the end. */
  readonly folder: string;
  /** Free ports, for who cannot choose them itself. */
  readonly ports: readonly [number, number];
}

export interface Contender {
  readonly name: string;
  readonly pid: number;
  /** The page as HTML; throws when there is none. */
  readonly render: (url: string) => Promise<string>;
  readonly stop: () => Promise<void>;
}

export type Setting = Pick<Orders, 'origin' | 'executablePath' | 'tabs'>;

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;
const STOP_CHECK_MS = 50;

/** Our render service with the defaults of the gateway's configuration. */
export async function startEdgeGateway(setting: Setting): Promise<Contender> {
  const { child, address, stop } = await startChild('serve-edge-gateway.ts', setting, 'SIGTERM');
  return {
    name: 'edge-gateway',
    pid: child.pid ?? 0,
    render: async (url) => {
      const body = JSON.stringify(buildRequest(url));
      const response = await fetch(`${address}/render`, { method: 'POST', body });
      const { head, html } = await readAnswer(response);
      if (head.outcome !== 'complete') throw new Error(`${url}: ${head.outcome}`);
      return html;
    },
    stop,
  };
}

/** npm's prerender. */
export async function startPrerender(setting: Setting): Promise<Contender> {
  const { child, address, stop } = await startChild('serve-prerender.ts', setting, 'SIGINT');
  return {
    name: 'prerender',
    pid: child.pid ?? 0,
    render: async (url) => {
      const response = await fetch(`${address}/render?url=${encodeURIComponent(url)}`);
      return await response.text();
    },
    stop,
  };
}

interface StartedChild {
  readonly child: ChildProcess;
  readonly address: string;
  readonly stop: () => Promise<void>;
}

async function startChild(
  file: string,
  setting: Setting,
  signal: NodeJS.Signals,
): Promise<StartedChild> {
  const folder = mkdtempSync(join(tmpdir(), 'edge-gateway-bench-'));
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    // A group of its own, by which a browser is found whose parent is gone.
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const stop = async (): Promise<void> => {
    await stopTree(child, signal);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  };
  const ports = [await findFreePort(), await findFreePort()] as const;
  const timeout = AbortSignal.timeout(START_TIMEOUT_MS);
  try {
    child.send({ ...setting, folder, ports } satisfies Orders);
    const died = once(child, 'exit', { signal: timeout }).then(() => {
      throw new Error(`${file} ended while it started`);
    });
    const [said] = await Promise.race([once(child, 'message', { signal: timeout }), died]);
    died.catch(() => undefined);
    return { child, address: said.address, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Asks the root to end, and ends what is left of its tree after that. */
async function stopTree(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const tree = listTree(child.pid ?? 0);
  child.kill(signal);
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  while (tree.some(isAlive) && performance.now() < deadline) await wait(STOP_CHECK_MS);
  for (const pid of [-(child.pid ?? 0), ...tree].filter(isAlive)) process.kill(pid, 'SIGKILL');
}
