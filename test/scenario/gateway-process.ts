// A gateway in a process of its own, as it is started in earnest: for what ends processes, and for
// limits that only whole processes have.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PROGRAM } from '../helpers/program.ts';

export type LogLine = Readonly<Record<string, unknown>>;

export interface GatewayProcess {
  readonly child: ChildProcess;
  readonly port: number;
  /** Log lines so far, parsed. */
  readonly log: readonly LogLine[];
  /** What it, and what it has started, wrote to standard error. */
  readonly complaints: () => string;
  /** Ends it at once and waits for the end. */
  readonly kill: () => Promise<void>;
  /** SIGTERM; answers the exit status. */
  readonly stop: () => Promise<number | null>;
}

/**
 * Starts `edge-gateway serve` and answers when it says that it is ready.
 *
 * @param limit arguments of `ulimit`, such as `['-f', '400']`
 */
export async function startGatewayProcess(
  file: string,
  limit: readonly string[] = [],
): Promise<GatewayProcess> {
  // Without the trap, a file that grows too large ends the process instead of failing the write.
  const script =
    limit.length === 0
      ? 'exec "$@"'
      : `trap "" XFSZ; ulimit ${limit.map((word) => `'${word}'`).join(' ')}; exec "$@"`;
  const command = [process.execPath, PROGRAM, 'serve', '-c', file];
  const child = spawn('bash', ['-c', script, 'bash', ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
    process.stderr.write(text);
  });
  const ended = once(child, 'exit');
  const log: LogLine[] = [];
  const port = await Promise.race([readPort(child, log), ended.then(() => null)]);
  if (port === null) throw new Error('the gateway process ended before it was ready');
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    await ended;
    return child.exitCode;
  };
  return {
    child,
    port,
    log,
    complaints: () => complaints,
    kill: async () => {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
  };
}

/** From the log line `ready`; the log is read to its end, so that it never blocks. */
async function readPort({ stdout }: ChildProcess, log: LogLine[]): Promise<number> {
  if (stdout === null) throw new Error('its log is piped');
  return await new Promise((resolve) => {
    createInterface({ input: stdout }).on('line', (line) => {
      log.push(JSON.parse(line));
      const address = /"listen":\["127\.0\.0\.1:(\d+)"/.exec(line)?.[1];
      if (address !== undefined) resolve(Number(address));
    });
  });
}
