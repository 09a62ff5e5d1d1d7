// Makes pages invalid that a client has changed: written to the purge log, and taken out. Those of
// one page that come within a moment are written as one, but none by a write that had begun before
// it: what was fetched in between would stay. What can't be written now is tried again, for a
// while, behind the back of the client, which waits no longer than for any store.
import { LIMITS } from '../../core/limits.ts';
import { createOutage } from '../../core/outage.ts';
import type { Clock, Done } from '../ports.ts';
import type { PurgeJournal } from '../purge/purge-journal.ts';
import type { PageStore } from '../store/page-store.ts';
import type { StoreTurns } from '../store/store-turns.ts';
import type { StoredAddress } from '../store/withdraw-page.ts';
import { createPacer } from '../upkeep/pacer.ts';
import { within } from '../within.ts';

export interface Invalidations {
  /** Resolves when it holds everywhere, or when the client has waited long enough. */
  readonly add: (page: StoredAddress) => Promise<void>;
  /** Tries once more what waits, and resolves when that is done, for an orderly stop. */
  readonly drain: () => Promise<void>;
}

export interface InvalidationDeps {
  readonly journal: Pick<PurgeJournal, 'append'>;
  readonly pages: Pick<PageStore, 'withdraw'>;
  readonly storing: StoreTurns;
  readonly clock: Clock;
  /** A change was given up: the page may be served until it expires. Told once an outage. */
  readonly onLost: (page: StoredAddress, reason: string) => void;
  readonly onDefect: (error: unknown) => void;
}

interface Write {
  readonly name: string;
  readonly page: StoredAddress;
  /** Never rejects. */
  readonly done: Promise<void>;
}

/** Writes of one page begin so far apart: a flood of changes takes few places of the log. */
const MOMENT_MS = 20;
/** A minute in all: as long as a failover takes, and well within the life of most pages. */
const RETRY_DELAYS_MS = [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000, 8_000, 8_000];
/** So many pages wait at once; a store that fails them all fails for long. */
const WAITING_MAX = 1_000;

export function createInvalidations(deps: InvalidationDeps): Invalidations {
  /** By page: what has not begun to be written, and will do for whoever comes now. */
  const waiting = new Map<string, Write>();
  /** By page: the rest of the moment since the last write began. */
  const resting = new Map<string, Promise<void>>();
  const running = new Set<Promise<void>>();
  const pacer = createPacer();
  let lost: StoredAddress | null = null;
  const outage = createOutage(0, {
    onFailing: (reason) => {
      if (lost !== null) deps.onLost(lost, reason);
    },
    onRecovered: () => undefined,
  });

  function start(name: string, page: StoredAddress): Write {
    const write: Write = {
      name,
      page,
      // Not before this turn ends: more of the same may come in it.
      done: Promise.resolve()
        .then(() => run(write))
        .catch(deps.onDefect)
        .finally(() => running.delete(write.done)),
    };
    waiting.set(name, write);
    running.add(write.done);
    return write;
  }

  async function run(write: Write): Promise<void> {
    const { name, page } = write;
    await resting.get(name);
    for (let failures = 0; ; failures += 1) {
      waiting.delete(name);
      rest(name);
      const written = await attempt(page, deps);
      if (written.state === 'done') {
        outage.succeed();
        return;
      }
      // One that came meanwhile begins later than this one did.
      const later = waiting.get(name);
      if (later !== undefined) return await later.done;
      const delayMs = RETRY_DELAYS_MS[failures];
      if (delayMs === undefined || pacer.isStopped() || waiting.size >= WAITING_MAX) {
        lost = page;
        outage.fail(deps.clock.now(), written.reason);
        return;
      }
      waiting.set(name, write);
      await pacer.wait(delayMs);
    }
  }

  function rest(name: string): void {
    const rested = pacer.wait(MOMENT_MS).then(() => {
      if (resting.get(name) === rested) resting.delete(name);
    });
    resting.set(name, rested);
  }

  return {
    add: async (page) => {
      const name = `${page.key} ${page.url}`;
      const { done } = waiting.get(name) ?? start(name, page);
      await within(LIMITS.storeTimeoutMs, done);
    },
    drain: async () => {
      pacer.stop();
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/**
 * Both at once: neither needs the other. By the log alone it holds; what could not be taken out is
 * of no use to anybody, and goes with a sweep.
 */
async function attempt(page: StoredAddress, deps: InvalidationDeps): Promise<Done<unknown>> {
  const { key, ref, url } = page;
  const { dimensionId } = ref;
  const selector = { kind: 'url', url, keys: [key], dimensionId } as const;
  const [written] = await Promise.all([
    deps.journal.append({ selector, soft: false, undoes: null }),
    takeOut(page, deps),
  ]);
  return written;
}

/** In turn with those who store the page; where that is not to be had, without. */
async function takeOut({ key, ref, url }: StoredAddress, deps: InvalidationDeps): Promise<void> {
  const takeNow = (): Promise<unknown> => deps.pages.withdraw(key, ref, url);
  if ((await deps.storing.take(key, takeNow)) === null) await takeNow();
}
