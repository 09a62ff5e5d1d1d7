// Runs a TypeScript fixture in a process of its own whose resources are limited by the shell: the
// real thing in place of a pretended error.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface RunResult {
  readonly code: number | null;
  readonly output: string;
}

/** Runs `fixture` with the arguments under `ulimit <limit>`, and answers what it printed. */
export async function runLimited(
  limit: readonly string[],
  fixture: string,
  args: readonly string[],
): Promise<RunResult> {
  // Without the trap, a file that grows too large ends the process instead of failing the write.
  const script = 'trap "" XFSZ; ulimit "$1" "$2"; shift 2; exec "$@"';
  const command = [process.execPath, '--import', 'tsx', fixture, ...args];
  const child = spawn('bash', ['-c', script, 'bash', ...limit, ...command], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = await once(child, 'close');
  return { code, output };
}
