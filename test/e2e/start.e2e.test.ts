// `npm start` as a newcomer meets it: it gets ready, its three `curl` lines show what they promise,
// Ctrl-C ends everything. On free ports and with a store of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findFreePort } from '../helpers/free-port.ts';

const SCRIPT = fileURLToPath(new URL('../setup/start.mjs', import.meta.url));
const READY_TIMEOUT_MS = 150_000;

interface Started {
  readonly process: ChildProcess;
  readonly output: () => string;
  /** Rejects with the output when the process ends first. */
  readonly ready: Promise<void>;
  readonly ended: Promise<number | null>;
}

const data = mkdtempSync(join(tmpdir(), 'edge-gateway-start-'));
let environment: Record<string, string>;

beforeAll(async () => {
  environment = {
    EDGE_GATEWAY_PORT: String(await findFreePort()),
    EDGE_GATEWAY_ADMIN_PORT: String(await findFreePort()),
    DEMO_SITE_PORT: String(await findFreePort()),
    EDGE_GATEWAY_DATA: data,
  };
});

afterAll(() => rmSync(data, { recursive: true, force: true }));

describe('the gateway in front of the demo site', () => {
  let started: Started;

  beforeAll(async () => {
    started = start();
    await started.ready;
  }, READY_TIMEOUT_MS);

  afterAll(() => started.process.kill('SIGKILL'));

  test('shows with its three lines what they promise', async () => {
    const lines = [...started.output().matchAll(/^ {2}curl -si (?:-A (\S+) )?'([^']+)'/gm)];
    expect(lines).toHaveLength(3);
    const answers = [];
    for (const [, agent, url] of lines) {
      const headers = { 'user-agent': agent ?? 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' };
      const response = await fetch(url ?? '', { headers });
      const text = await response.text();
      answers.push([response.status, response.headers.get('x-render-cache'), text] as const);
    }
    const shell = '<div id="app"></div>';
    // Without a browser on the machine the demo says so and stores the site's own HTML.
    const hasBrowser = started.output().includes('"engine":"chromium"');
    const page = hasBrowser ? '<h1>Rendered in the browser</h1>' : shell;
    expect(answers).toEqual([
      [200, 'new', expect.stringContaining(page)],
      [200, 'hit', answers[0]?.[2]],
      [200, 'bypass', expect.stringContaining(shell)],
    ]);
  });

  test('refuses to start a second time, and says which port to change', async () => {
    const second = start();
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`Port ${environment['EDGE_GATEWAY_PORT']} is in use`);
    expect(second.output()).toContain('EDGE_GATEWAY_PORT=');
  });

  test('ends with Ctrl-C, and nothing is left', async () => {
    const group = started.process.pid ?? 0;
    // What a terminal does: the signal goes to the whole process group.
    process.kill(-group, 'SIGINT');
    expect(await started.ended).toBe(0);
    await vi.waitFor(() => expect(listGroup(group)).toEqual([]), { timeout: 5_000 });
  });

  test(
    'starts again and answers from the store',
    async () => {
      const again = start();
      await again.ready;
      const url = `http://localhost:${environment['EDGE_GATEWAY_PORT']}/app?ref=again`;
      const response = await fetch(url, { headers: { 'user-agent': 'Googlebot' } });
      await response.text();
      again.process.kill('SIGTERM');
      expect(response.headers.get('x-render-cache')).toBe('hit');
      expect(await again.ended).toBe(0);
    },
    READY_TIMEOUT_MS,
  );
});

function start(): Started {
  const child = spawn(process.execPath, [SCRIPT], {
    env: { ...process.env, ...environment },
    // A process group of its own, as a shell makes for each command.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: string[] = [];
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const ready = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        chunks.push(chunk);
        if (chunks.join('').includes('Ctrl-C ends it all')) resolve();
      });
    }
    void ended.then((code) => reject(new Error(`ended with ${code}:\n${chunks.join('')}`)));
  });
  // Whoever does not wait for it must not be hit by its rejection.
  ready.catch(() => undefined);
  return { process: child, output: () => chunks.join(''), ready, ended };
}

/** Processes of a group that still run, from Linux's /proc: `PID (NAME) STATE PARENT GROUP …`. */
function listGroup(group: number): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(readStat)
    .filter((stat) => {
      const [state, , groupOfIt] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return groupOfIt === String(group) && state !== 'Z';
    });
}

function readStat(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    // It ended since the folder was listed.
    return '';
  }
}
