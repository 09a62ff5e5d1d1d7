// How browsers of this process are started: with the sandbox wherever the kernel allows it, and
// with one plain warning where it doesn't. What the kernel allows is found out by trying, because
// neither files nor system calls tell it for containers.
import type { Log } from '../options.ts';
import { LaunchError, type LaunchedBrowser, launchBrowser } from './launch-browser.ts';

export interface Launcher {
  readonly launch: () => Promise<LaunchedBrowser>;
  readonly hasSandbox: () => boolean;
}

/** @param trustedKeyHash of the key the egress shows for configured hosts */
export function createLauncher(executablePath: string, trustedKeyHash: string, log: Log): Launcher {
  let hasSandbox = true;
  const giveUpSandbox = (reason: string): void => {
    hasSandbox = false;
    log('warn', 'Chromium runs without its sandbox', { reason });
  };
  if (process.getuid?.() === 0) {
    giveUpSandbox('it refuses to be sandboxed as root: run the service as another user');
  }
  const start = (): Promise<LaunchedBrowser> =>
    launchBrowser({ executablePath, hasSandbox, trustedKeyHash });
  return {
    launch: async () => {
      try {
        return await start();
      } catch (error) {
        if (!hasSandbox || !(error instanceof LaunchError) || !error.noSandbox) throw error;
        giveUpSandbox('the kernel allows no user namespaces here, or no setuid helper is there');
        return await start();
      }
    },
    hasSandbox: () => hasSandbox,
  };
}
