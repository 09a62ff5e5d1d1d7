// Runs commands: in this process, with streams of the test's own, or as a process of their own where
// the process itself is what is tested.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { runCli } from '../../src/cli/run-cli.ts';
import { PROGRAM } from '../helpers/program.ts';

export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandInput {
  readonly stdin?: Readable;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs one command line in this process. */
export async function runCommand(
  argv: readonly string[],
  { stdin = Readable.from([]), env = {} }: CommandInput = {},
): Promise<CommandResult> {
  const stdout = collect();
  const stderr = collect();
  const status = await runCli(argv, { stdin, stdout: stdout.stream, stderr: stderr.stream, env });
  return { status, stdout: stdout.text(), stderr: stderr.text() };
}

/** The names of all commands, as the help lists them. */
export async function listCommands(): Promise<readonly string[]> {
  const { stdout } = await runCommand(['--help']);
  return [...stdout.matchAll(/^ {2}([a-z][a-z-]*) {2,}\S/gm)].map(([, name = '']) => name);
}

/** Starts one as a process; the test ends it, or waits for its end. */
export function startCommand(
  argv: readonly string[],
  nodeArgs: readonly string[] = [],
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [...nodeArgs, PROGRAM, ...argv]);
}

/** Waits for the end of a started command and answers all it wrote. */
export async function finishCommand(child: ChildProcessWithoutNullStreams): Promise<CommandResult> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  const [status] = await once(child, 'close');
  return {
    status: status as number | null,
    stdout: Buffer.concat(stdout).toString(),
    stderr: Buffer.concat(stderr).toString(),
  };
}

/** Gives a folder with these files, as long as `use` runs. */
export async function withFiles<T>(
  files: Readonly<Record<string, string>>,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'edge-gateway-cli-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function collect(): { readonly stream: Writable; readonly text: () => string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}
