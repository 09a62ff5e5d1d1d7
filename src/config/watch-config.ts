// Tells that the configuration on disk is another one. Folders are watched, not files, because
// editors replace files and Kubernetes swaps a symlink above them; what counts is a fingerprint of
// the files, so that a burst of events or an unrelated file in the folder causes one look, not a
// reload. A slow look-around covers file systems that send no events.
import { type FSWatcher, watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface ConfigWatcher {
  /** Settled once the files as they are now are known; a later change is seen. */
  readonly ready: Promise<void>;
  readonly close: () => void;
}

export interface WatchTimes {
  /** Quiet time after the last event: a file that is being written is left alone. */
  readonly debounceMs: number;
  readonly lookAroundMs: number;
}

const TIMES: WatchTimes = { debounceMs: 200, lookAroundMs: 5_000 };
/** Longest burst that is waited out, in debounce times. */
const BURST_DEBOUNCES = 10;
const YAML_NAME = /\.ya?ml$/;

/**
 * Watches the files of a configuration, and files that are added beside them.
 *
 * @param files absolute paths, `LoadResult.files`
 * @param onChange called once a change has settled; never while an earlier call is awaited
 */
export function watchConfig(
  files: readonly string[],
  onChange: () => void | Promise<void>,
  times: WatchTimes = TIMES,
): ConfigWatcher {
  const folders = [...new Set(files.map((file) => dirname(file)))];
  const watchers = new Map<string, FSWatcher>();
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  /** When the first event of a burst came; the burst is cut off, or constant writes would hide. */
  let burstSince: number | null = null;
  let known: Promise<string> = fingerprint(files, folders);
  let looking: Promise<void> = Promise.resolve();

  const look = async (): Promise<void> => {
    const before = await known;
    const now = await fingerprint(files, folders);
    if (isClosed || now === before) return;
    known = Promise.resolve(now);
    await onChange();
  };
  const schedule = (delayMs: number): void => {
    if (isClosed) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      burstSince = null;
      openWatchers();
      looking = looking.then(look).finally(() => schedule(times.lookAroundMs));
    }, delayMs);
    timer.unref();
  };
  const onEvent = (): void => {
    const now = performance.now();
    burstSince ??= now;
    const leftMs = burstSince + BURST_DEBOUNCES * times.debounceMs - now;
    schedule(Math.max(0, Math.min(times.debounceMs, leftMs)));
  };
  const openWatchers = (): void => {
    for (const folder of folders) {
      if (!watchers.has(folder)) openWatcher(watchers, folder, onEvent);
    }
  };

  openWatchers();
  schedule(times.lookAroundMs);
  return {
    ready: known.then(() => undefined),
    close: () => {
      isClosed = true;
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

/** A folder that vanishes is opened again at the next look-around. */
function openWatcher(watchers: Map<string, FSWatcher>, folder: string, onEvent: () => void): void {
  try {
    const watcher = watch(folder, { persistent: false }, onEvent);
    const forget = (): void => {
      watcher.close();
      watchers.delete(folder);
      onEvent();
    };
    watcher.on('error', forget);
    watchers.set(folder, watcher);
  } catch {
    // No such folder, or no events on this file system: the look-around sees changes anyway.
    watchers.delete(folder);
  }
}

/** Content is told apart by size, time and inode; `stat` follows symlinks. */
async function fingerprint(files: readonly string[], folders: readonly string[]): Promise<string> {
  const paths = new Set(files);
  for (const folder of folders) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names) if (YAML_NAME.test(name)) paths.add(join(folder, name));
  }
  const lines = await Promise.all(
    [...paths].toSorted().map(async (path) => {
      const info = await stat(path, { bigint: true }).catch(() => null);
      return info === null ? `${path} -` : `${path} ${info.ino} ${info.size} ${info.mtimeNs}`;
    }),
  );
  return lines.join('\n');
}
