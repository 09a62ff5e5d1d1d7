// Runs one program in the foreground, with this process's output. It can't outlive this process by
// a polite end: the signals that would end us are passed on, and we end when it has ended. (The
// scripts of package.json start with `exec`, because npm signals only the shell between it and us.)
import { spawn } from 'node:child_process';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Folder that everything runs in: the top of the checkout. */
export const ROOT = new URL('../../', import.meta.url).pathname;

/** Path of a program that came with the packages. */
export function tool(name) {
  return `${ROOT}node_modules/.bin/${name}`;
}

/**
 * Runs a program to its end. A signal to end us ends it, and then us.
 * @returns {Promise<number>} its exit status; 127 when it could not be started, 1 after a signal.
 */
export async function run(command, args, env = {}) {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  let isStopping = false;
  const stop = (signal) => {
    isStopping = true;
    child.kill(signal);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
  const status = await new Promise((resolve) => {
    child.once('error', () => resolve(127));
    child.once('exit', (code) => resolve(code ?? 1));
  });
  for (const signal of STOP_SIGNALS) process.off(signal, stop);
  if (isStopping) process.exit(1);
  return status;
}
