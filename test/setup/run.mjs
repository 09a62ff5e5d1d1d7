// Runs one program in the foreground, with this process's output. It can't outlive this process by
// a polite end: the signals that would end us are passed on, and we end when it has ended.
import { spawn } from 'node:child_process';

/** Folder that everything runs in: the top of the checkout. */
export const ROOT = new URL('../../', import.meta.url).pathname;

/** Path of a program that came with the packages. */
export function tool(name) {
  return `${ROOT}node_modules/.bin/${name}`;
}

/**
 * Runs a program to its end.
 * @returns {Promise<number>} its exit status; 127 when it could not be started, 128+n by signal n.
 */
export async function run(command, args, env = {}) {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const pass = (signal) => child.kill(signal);
  process.on('SIGTERM', pass);
  process.on('SIGINT', pass);
  try {
    return await new Promise((resolve) => {
      child.once('error', () => resolve(127));
      child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGKILL' ? 137 : 143)));
    });
  } finally {
    process.off('SIGTERM', pass);
    process.off('SIGINT', pass);
  }
}
