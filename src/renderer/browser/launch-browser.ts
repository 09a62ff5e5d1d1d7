// One Chromium: started by us and not by Playwright, because only then do we own its process group
// and its folder, and can promise that no exit of either side leaves a process or a file behind.
// Playwright gets the debugging pipe and nothing else. The pipe also is the dead man's handle: when
// we are killed, it closes, and Chromium ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Browser } from 'playwright-core';
import { RENDER_LIMITS } from '../limits.ts';
import { createCdpPipe } from './cdp-pipe.ts';
import { chromiumFlags } from './chromium-flags.ts';
import { endGroup, groupRssBytes, killGroup } from './process-group.ts';
import { createProfileFolder, type ProfileFolder } from './profile-folder.ts';

export interface LaunchOptions {
  readonly executablePath: string;
  readonly hasSandbox: boolean;
  readonly trustedKeyHash: string;
}

/** A running Chromium. */
export interface LaunchedBrowser {
  readonly browser: Browser;
  readonly pid: number;
  /** Settles when the process has ended and its folder is gone, however that came. */
  readonly gone: Promise<void>;
  readonly rssBytes: () => number;
  /** SIGTERM, then SIGKILL for the whole group; waits until nothing is left. */
  readonly end: () => Promise<void>;
  /** SIGKILL at once; waits until nothing is left. */
  readonly kill: () => Promise<void>;
}

/** Why no browser started; `noSandbox` when the kernel refuses what the sandbox needs. */
export class LaunchError extends Error {
  readonly noSandbox: boolean;

  constructor(message: string, noSandbox: boolean) {
    super(message);
    this.noSandbox = noSandbox;
  }
}

const STDERR_CHARS_MAX = 4_000;
const ENDED = 'the browser ended while it started';

/** Starts one and waits until it answers. */
export async function launchBrowser(options: LaunchOptions): Promise<LaunchedBrowser> {
  const { chromium } = await import('playwright-core');
  const created = createProfileFolder();
  if (!created.ok) throw new LaunchError(created.error, false);
  const folder = created.value;
  const child = await spawnChromium(options, folder);
  const { pid } = child;
  const killAtExit = (): void => void killGroup(pid);
  process.once('exit', killAtExit);
  const gone = once(child.process, 'exit').then(async () => {
    // Helpers that outlive their leader would write into the folder that is being removed.
    killGroup(pid);
    process.off('exit', killAtExit);
    await folder.remove();
  });
  const end = async (): Promise<void> => {
    await endGroup(pid, RENDER_LIMITS.killGraceMs);
    await gone;
  };
  const kill = async (): Promise<void> => {
    killGroup(pid);
    await gone;
  };
  const pipe = createCdpPipe(child.input, child.output, () => void endGroup(pid, 0));
  try {
    const browser = await Promise.race([
      chromium.connectOverCDP(pipe, {
        artifactsDir: folder.path,
        timeout: RENDER_LIMITS.launchTimeoutMs,
      }),
      gone.then(() => Promise.reject(new Error(ENDED))),
    ]);
    return { browser, pid, gone, rssBytes: () => groupRssBytes(pid), end, kill };
  } catch (error) {
    await kill();
    const stderr = child.stderr();
    const told = error instanceof Error ? error.message : String(error);
    // What the library says of a pipe that has ended, which may be seen before the process has.
    const message = told.includes('has been closed') ? ENDED : told;
    const words = [message, stderr.trim()].filter((text) => text !== '');
    throw new LaunchError(words.join(': '), /sandbox/i.test(stderr));
  }
}

interface SpawnedChromium {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly input: Writable;
  readonly output: Readable;
  readonly stderr: () => string;
}

async function spawnChromium(
  options: LaunchOptions,
  folder: ProfileFolder,
): Promise<SpawnedChromium> {
  const flags = chromiumFlags({ ...options, profileFolder: folder.path });
  const child = spawn(options.executablePath, flags, {
    // A group of its own, so that one signal reaches every helper.
    detached: true,
    env: folder.environment,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
  });
  try {
    await once(child, 'spawn');
  } catch (error) {
    await folder.remove();
    throw new LaunchError(error instanceof Error ? error.message : String(error), false);
  }
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_CHARS_MAX);
  });
  return {
    process: child,
    pid: child.pid ?? 0,
    input: child.stdio[3] as Writable,
    output: child.stdio[4] as Readable,
    stderr: () => stderr,
  };
}
