// Watches the files of whatever configuration is in service, where it says so (`watch_config`).
import type { Config } from '../config/settings.ts';
import { type ConfigWatcher, watchConfig } from '../config/watch-config.ts';

export interface FileFollower {
  /** Call it when another configuration may be in service. */
  readonly follow: () => void;
  readonly close: () => void;
}

/** Watches nothing before `follow`; a change that has settled calls `onChange`. */
export function createFileFollower(
  current: () => Pick<Config, 'files' | 'settings'>,
  onChange: () => Promise<void>,
): FileFollower {
  let watcher: ConfigWatcher | null = null;
  let watchedFiles = '';
  let isClosed = false;

  /** A watcher whose files are still the same goes on: it sees what changed during a reload. */
  function follow(): void {
    const { files, settings } = current();
    const wanted = settings.server.watchConfig && !isClosed ? files.join('\n') : '';
    if (wanted === watchedFiles) return;
    watcher?.close();
    watchedFiles = wanted;
    watcher = wanted === '' ? null : watchConfig(files, onChange);
  }

  return {
    follow,
    close: () => {
      isClosed = true;
      follow();
    },
  };
}
