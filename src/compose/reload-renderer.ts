// A render service reads its files again: on SIGHUP and, where it stands alone, when one of them
// changes. With any error it goes on with what it has, and either way its log says so.
import type { Log } from '../adapters/telemetry/create-log.ts';
import { createCopyingReader } from '../config/config-reader.ts';
import { formatDiagnostic } from '../config/diagnostic.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Config } from '../config/settings.ts';
import { createFileFollower } from './follow-files.ts';

export interface RendererReloadDeps {
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** The configuration it started with. */
  readonly config: Config;
  /** false: whoever started it also says when to read again. */
  readonly watches: boolean;
  readonly apply: (config: Config) => void;
}

export interface RendererReloader {
  /** Answers whether the files were taken. */
  readonly reload: () => Promise<boolean>;
  readonly close: () => void;
}

const PART = { part: 'renderer' } as const;

export function createRendererReloader(deps: RendererReloadDeps): RendererReloader {
  const { file, env, log, watches, apply } = deps;
  let { config: current } = deps;
  // One at a time: the last to be asked for is the last to be read, and the one that stays.
  let queue: Promise<unknown> = Promise.resolve();
  let lastRead: string | null = null;
  let isTaken = true;

  /** @param isNews whether what was just read is worth another word */
  async function readAgain(isNews: (read: string) => boolean): Promise<boolean> {
    const reader = createCopyingReader();
    const { config, diagnostics } = await loadConfig(file, env, reader);
    const messages = diagnostics.map(formatDiagnostic);
    const read = JSON.stringify([reader.copy(), messages]);
    if (!isNews(read)) return isTaken;
    lastRead = read;
    isTaken = config !== null;
    if (config === null) {
      log.error('reload refused: hosts and sizes stay', { ...PART, errors: messages });
      return false;
    }
    current = config;
    apply(config);
    const warnings = messages.length === 0 ? {} : { warnings: messages };
    log.info('renderer reloaded', { ...PART, hosts: config.policies.hosts.length, ...warnings });
    if (watches) follower.follow();
    return true;
  }
  async function inTurn(isNews: (read: string) => boolean): Promise<boolean> {
    const turn = queue.then(() => readAgain(isNews));
    queue = turn;
    return await turn;
  }
  const follower = createFileFollower(
    () => current,
    // A watcher also sees what a signal has just had read: told once is enough.
    async () => void (await inTurn((read) => read !== lastRead)),
  );

  if (watches) follower.follow();
  return { reload: async () => await inTurn(() => true), close: follower.close };
}
