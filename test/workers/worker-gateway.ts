// `edge-gateway serve` with worker processes, as it is started in earnest, in front of an origin.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { findFreePort } from '../helpers/free-port.ts';
import { PROGRAM } from '../helpers/program.ts';
import { type Answer, startRawOrigin } from '../helpers/raw-origin.ts';
import { hostsText } from '../scenario/stage.ts';

export type LogLine = Readonly<Record<string, unknown>>;

export interface WorkerGateway {
  readonly child: ChildProcess;
  readonly port: number;
  /** Its configuration, for commands. */
  readonly file: string;
  readonly log: readonly LogLine[];
  readonly complaints: () => string;
  /** The workers that serve now: number → process. */
  readonly workers: () => ReadonlyMap<number, number>;
  /** Writes hosts.yaml: keys of the one host. */
  readonly writeHost: (keys: string) => Promise<void>;
  readonly admin: (path: string, method?: 'GET' | 'POST') => Promise<AdminAnswer>;
  /** Of a counter or gauge: all its series together. */
  readonly metric: (name: string) => Promise<number>;
  /** Waits for the end; answers the exit status. */
  readonly ended: Promise<number | null>;
}

export interface AdminAnswer {
  readonly status: number;
  readonly text: string;
}

export interface WorkerGatewayOptions {
  readonly workers: number | 'auto';
  readonly origin: Answer;
  /** Keys of the host. */
  readonly host?: string;
  /** More lines of edge-gateway.yaml. */
  readonly gateway?: string;
  /** More keys of its `server`. */
  readonly server?: string;
  /** More keys of its `storage`. */
  readonly storage?: string;
  /** Whether the process gets a group of its own, as a shell makes for each command. */
  readonly hasGroup?: boolean;
}

/** A busy machine takes its time for so many processes. */
const PATIENCE_MS = 90_000;

/** Starts it; everything ends with the test. */
export async function startWorkerGateway(options: WorkerGatewayOptions): Promise<WorkerGateway> {
  const origin = await startRawOrigin({ answer: options.origin });
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-workers-'));
  const adminPort = await findFreePort();
  const writeHost = async (keys: string): Promise<void> =>
    await writeFile(join(folder, 'hosts.yaml'), hostsText(origin.url, { host: keys }));
  await writeHost(options.host ?? '');
  const file = join(folder, 'edge-gateway.yaml');
  await writeFile(file, gatewayText(options, adminPort));
  const command = [PROGRAM, 'serve', '-c', file];
  const child = spawn(process.execPath, command, { detached: options.hasGroup === true });
  const log: LogLine[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => log.push(JSON.parse(line)));
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const ended = once(child, 'exit').then(() => child.exitCode);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    await origin.close();
    await rm(folder, { recursive: true, force: true });
  });
  const ready = untilTrue('ready', () => find(log, 'ready') !== undefined);
  await Promise.race([ready, ended]);
  const admin = async (path: string, method = 'GET'): Promise<AdminAnswer> => {
    const answer = await fetch(`http://127.0.0.1:${adminPort}${path}`, { method });
    return { status: answer.status, text: await answer.text() };
  };
  const listen = find(log, 'ready')?.['listen'] as readonly string[] | undefined;
  return {
    child,
    port: Number(listen?.[0]?.split(':').at(-1) ?? 0),
    file,
    log,
    complaints: () => complaints,
    workers: () => workersIn(log),
    writeHost,
    admin,
    metric: async (name) => sumOf((await admin('/metrics')).text, name),
    ended,
  };
}

/** As `waitUntil`, with more patience. */
export async function untilTrue(
  what: string,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`in vain: ${what}`);
    await wait(20);
  }
}

/** All its processes, the oldest first: those that serve, start and leave. */
export async function childrenOf({ child: { pid } }: WorkerGateway): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(' ').filter(Boolean).map(Number);
}

/** How many lines there are with this message. */
export function countLines(log: readonly LogLine[], message: string): number {
  return log.filter(({ msg }) => msg === message).length;
}

function find(log: readonly LogLine[], message: string): LogLine | undefined {
  return log.find(({ msg }) => msg === message);
}

function gatewayText(
  { workers, gateway = '', server = '', storage = '' }: WorkerGatewayOptions,
  adminPort: number,
): string {
  return `server: {listen: "127.0.0.1:0", workers: ${workers}, watch_config: false${server}}
admin: {listen: "127.0.0.1:${adminPort}"}
storage: {base_path: ./data${storage}}
render: {engine: origin}
${gateway}`;
}

function workersIn(log: readonly LogLine[]): ReadonlyMap<number, number> {
  const workers = new Map<number, number>();
  for (const { msg, worker, pid } of log) {
    if (msg === 'worker started') workers.set(Number(worker), Number(pid));
    if (msg === 'worker ended' || msg === 'worker stopped') workers.delete(Number(worker));
  }
  return workers;
}

function sumOf(text: string, name: string): number {
  const lines = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))];
  return lines.reduce((sum, [, value]) => sum + Number(value), 0);
}
