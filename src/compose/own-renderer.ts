// The renderer a gateway runs for itself with `render.engine: chromium`: started when a
// configuration first asks for it, kept over reloads, ended with the gateway, and with all that it
// may have left where it had to be killed.
import { join } from 'node:path';
import process from 'node:process';
import {
  type RendererEvent,
  type RendererProcess,
  superviseRenderer,
} from '../adapters/renderer-process/supervise-renderer.ts';
import type { Done } from '../pipeline/ports.ts';
import {
  createOwnFolder,
  removeOwnFolder,
  sweepOwnFolders,
} from '../renderer/folders/own-folder.ts';
import { ownProgram } from './own-program.ts';
import { StartError } from './start-error.ts';

export interface OwnRenderer {
  /** URL of its socket, for the page source; starts it the first time. */
  readonly start: () => Promise<string>;
  /**
   * Waits while it starts, or is replaced after a crash. `unavailable`: it has failed, or the time
   * is over.
   */
  readonly untilReady: (timeoutMs: number) => Promise<Done<void>>;
  /** Makes it read hosts and sizes again; nothing when it does not run. */
  readonly reload: () => void;
  readonly close: () => Promise<void>;
}

export interface OwnRendererOptions {
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The gateway's name in `Via`, by which it knows a page's request that came back to it. */
  readonly pseudonym: string;
  readonly output: NodeJS.WritableStream;
  readonly onEvent: (event: RendererEvent) => void;
}

const NOT_STARTED: Done<void> = { state: 'unavailable', reason: 'renderer_not_started' };

export function createOwnRenderer(options: OwnRendererOptions): OwnRenderer {
  let running: Running | null = null;
  return {
    start: async () => {
      running ??= startRenderer(options);
      return `unix:${running.socketPath}`;
    },
    untilReady: async (timeoutMs) => (await running?.process.untilReady(timeoutMs)) ?? NOT_STARTED,
    reload: () => running?.process.reload(),
    close: async () => {
      if (running === null) return;
      await running.process.close();
      await removeOwnFolder(running.folder);
      // It may have been killed, and its browser still be there.
      await sweepOwnFolders();
    },
  };
}

interface Running {
  readonly folder: string;
  readonly socketPath: string;
  readonly process: RendererProcess;
}

/** Throws a `StartError` where there is no place for its socket, nor for a browser then. */
function startRenderer({ file, pseudonym, output, onEvent, env }: OwnRendererOptions): Running {
  const created = createOwnFolder();
  if (!created.ok) throw new StartError(created.error);
  const folder = created.value;
  const socketPath = join(folder, 'render.sock');
  const child = superviseRenderer({
    command: [...rendererCommand(file), '--via', pseudonym],
    socketPath,
    env: { ...process.env, ...env },
    output,
    onEvent,
  });
  return { folder, socketPath, process: child };
}

function rendererCommand(file: string): readonly [string, ...string[]] {
  const { path, execArgv } = ownProgram('main');
  return [process.execPath, ...execArgv, path, 'render-service', '-c', file, '--with-parent'];
}
