// The renderer a gateway runs for itself with `render.engine: chromium`: started when a
// configuration first asks for it, kept over reloads, ended with the gateway.
import process from 'node:process';
import {
  type RendererEvent,
  type RendererProcess,
  superviseRenderer,
} from '../adapters/renderer-process/supervise-renderer.ts';
import type { Done } from '../pipeline/ports.ts';
import { ownProgram } from './own-program.ts';

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
  let running: Promise<RendererProcess> | null = null;
  const { file, pseudonym, output, onEvent } = options;
  return {
    start: async () => {
      running ??= superviseRenderer({
        command: [...rendererCommand(file), '--via', pseudonym],
        env: { ...process.env, ...options.env },
        output,
        onEvent,
      });
      return `unix:${(await running).socketPath}`;
    },
    untilReady: async (timeoutMs) => (await running)?.untilReady(timeoutMs) ?? NOT_STARTED,
    reload: () => void running?.then((renderer) => renderer.reload()),
    close: async () => await (await running)?.close(),
  };
}

function rendererCommand(file: string): readonly [string, ...string[]] {
  const { path, execArgv } = ownProgram('main');
  return [process.execPath, ...execArgv, path, 'render-service', '-c', file, '--with-parent'];
}
