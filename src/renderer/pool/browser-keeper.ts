// Keeps one browser running: starts the next when the current one is due, and at once when it dies or
// no longer answers. Every browser that was started is remembered until it is gone, so that closing
// leaves none behind.
import { setTimeout as wait } from 'node:timers/promises';
import type { Launcher } from '../browser/create-launcher.ts';
import { RENDER_LIMITS } from '../limits.ts';
import type { Log, PoolOptions } from '../options.ts';
import { createGeneration, type Generation, type ReplaceReason } from './generation.ts';

export interface Keeper {
  /** The browser for the next page; null while none runs. */
  readonly current: () => Generation | null;
  /** Starts a successor and then retires this one. */
  readonly replace: (generation: Generation, reason: ReplaceReason) => void;
  /** This one hangs or is dead: kills it and starts another at once. */
  readonly lost: (generation: Generation) => Promise<void>;
  /** Whether none runs and the last start failed. */
  readonly isFailing: () => boolean;
  readonly replaced: () => Readonly<Record<ReplaceReason, number>>;
  readonly close: () => Promise<void>;
}

export interface KeeperEvents {
  readonly log: Log;
  readonly onReady: () => void;
  readonly onStartFailed: () => void;
}

const RETRY_FIRST_MS = 250;
const RETRY_MAX_MS = 5_000;

/** Starts the first browser; fails when that is impossible. */
export async function createKeeper(
  launcher: Launcher,
  options: PoolOptions,
  events: KeeperEvents,
): Promise<Keeper> {
  const replaced = { count: 0, age: 0, memory: 0, canary: 0, crash: 0, hang: 0 };
  const living = new Set<Generation>();
  let current: Generation | null = null;
  let starting: Promise<void> | null = null;
  let failures = 0;
  let isClosed = false;

  const note = (reason: ReplaceReason): void => {
    replaced[reason] += 1;
    events.log('info', 'browser replaced', { reason });
  };
  const launch = async (): Promise<Generation> => {
    const launched = await launcher.launch();
    const generation = await createGeneration(launched, options);
    living.add(generation);
    void launched.gone.then(() => {
      living.delete(generation);
      if (generation.isEnding() || isClosed) return;
      dropDead(generation, 'crash');
    });
    return generation;
  };
  const dropDead = (generation: Generation, reason: ReplaceReason): void => {
    if (current !== generation) return;
    current = null;
    note(reason);
    start();
  };
  const start = (): void => {
    if (starting !== null || isClosed) return;
    starting = startNext().finally(() => {
      starting = null;
    });
  };
  /** Tries until a browser runs; an old one that still runs stays in service meanwhile. */
  const startNext = async (): Promise<void> => {
    while (!isClosed) {
      try {
        const next = await launch();
        failures = 0;
        if (isClosed) return await next.kill();
        current?.retire();
        current = next;
        return events.onReady();
      } catch (error) {
        failures += 1;
        const message = error instanceof Error ? error.message : String(error);
        events.log('error', 'no browser could be started', { message });
        if (current === null) events.onStartFailed();
        await wait(Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** failures));
      }
    }
  };
  const lost = async (generation: Generation): Promise<void> => {
    const isDead = !generation.launched.browser.isConnected();
    dropDead(generation, isDead ? 'crash' : 'hang');
    await generation.kill();
  };
  const replace = (generation: Generation, reason: ReplaceReason): void => {
    if (generation !== current || starting !== null) return;
    note(reason);
    start();
  };
  /** Age and memory are looked at here, and whether it still answers. */
  const check = async (): Promise<void> => {
    const generation = current;
    if (generation === null) return;
    if (!(await generation.answers())) {
      if (!generation.isEnding()) await lost(generation);
      return;
    }
    const isHeavy = generation.launched.rssBytes() >= options.browserRssBytes;
    const reason = isHeavy ? 'memory' : generation.due();
    if (reason !== null) replace(generation, reason);
  };

  current = await launch();
  let checking: Promise<void> | null = null;
  const heartbeat = setInterval(() => {
    checking ??= check().finally(() => {
      checking = null;
    });
  }, RENDER_LIMITS.heartbeatMs);
  heartbeat.unref();

  return {
    current: () => current,
    replace,
    lost,
    isFailing: () => current === null && failures > 0,
    replaced: () => replaced,
    close: async () => {
      isClosed = true;
      clearInterval(heartbeat);
      current = null;
      await Promise.all([...living].map((generation) => generation.kill()));
      await starting;
    },
  };
}
