// The EntryStore port on lmdb: one machine, any number of processes. A read is a look into mapped
// memory; a write is one transaction that survives a kill. Every write has a version of its own:
// removing what has expired never hits an entry another process has just put there, and what was
// read earlier is known to be current by comparing one number.
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait, setImmediate as yieldTurn } from 'node:timers/promises';
import { formatCacheKeyPrefix } from '../../core/key/cache-key.ts';
import { decodeEntry, encodeEntry } from '../../core/key/entry-codec.ts';
import type {
  CacheKey,
  Clock,
  Done,
  Entry,
  EntryFilter,
  EntryStore,
  FoundEntry,
  StoredEntry,
} from '../../pipeline/ports.ts';
import { type Attempt, createAttempt } from './attempt.ts';
import { type Environment, openEnvironment, type SetAside } from './open-environment.ts';

export type EmbeddedWarning =
  | ({ readonly kind: 'store_set_aside' } & SetAside)
  /** Reads or writes fail from now on; said once until one works again. */
  | { readonly kind: 'store_failing'; readonly on: StoreAccess; readonly reason: string }
  | { readonly kind: 'store_recovered'; readonly on: StoreAccess };

export type StoreAccess = 'read' | 'write';

export interface EmbeddedStoreOptions {
  /** `storage.base_path`; the store is its `store` folder. */
  readonly basePath: string;
  readonly clock: Clock;
  readonly onWarning: (warning: EmbeddedWarning) => void;
}

const KEYS_PER_PAGE = 500;
const STAMPS_PER_MS = 1_024;
const CLOSE_TIMEOUT_MS = 2_000;
const DONE: Done<void> = { state: 'done', value: undefined };

/**
 * Opens the embedded entry store.
 *
 * @throws StoreOpenError when it can't be opened, with what to do about it
 */
export function createEmbeddedEntryStore(options: EmbeddedStoreOptions): EntryStore {
  const { basePath, clock, onWarning } = options;
  const environment = openEnvironment(join(basePath, 'store'), (event) =>
    onWarning({ kind: 'store_set_aside', ...event }),
  );
  const read = attemptsOf('read', options);
  const write = attemptsOf('write', options);

  async function get(key: CacheKey): Promise<FoundEntry> {
    const found = await read(async () => environment.getEntry(key));
    if (found === undefined) return { state: 'absent' };
    if ('state' in found) return found;
    const decoded = decodeEntry(found.value, key, clock.now());
    const stamp = found.version ?? 0;
    if (decoded.state === 'entry') return { state: 'found', value: decoded.entry, stamp };
    if (decoded.state === 'foreign') return { state: 'absent' };
    await write(() => environment.remove(key, stamp));
    return decoded.state === 'expired'
      ? { state: 'absent' }
      : { state: 'damaged', reason: decoded.reason };
  }

  function put(key: CacheKey, entry: Entry): Promise<Done<void>> {
    return write(async () => {
      await environment.put(key, encodeEntry(entry), nextStamp(clock.now()));
      return DONE;
    });
  }

  function replace(key: CacheKey, previous: Entry, next: Entry): Promise<Done<boolean>> {
    return write(async () => {
      const found = environment.getEntry(key);
      if (found?.value !== encodeEntry(previous)) return { state: 'done', value: false };
      const stamp = nextStamp(clock.now());
      const value = await environment.put(key, encodeEntry(next), stamp, found.version ?? 0);
      return { state: 'done', value };
    });
  }

  function remove(key: CacheKey): Promise<Done<boolean>> {
    return write(async () => {
      const value = environment.doesExist(key);
      if (value) await environment.remove(key);
      return { state: 'done', value };
    });
  }

  function check(): Promise<Done<void>> {
    return read(async () => {
      environment.getEntry('check');
      return DONE;
    });
  }

  return {
    name: 'embedded',
    get,
    put,
    replace,
    delete: remove,
    isCurrent: (key, stamp) => isStill(environment, key, stamp),
    keys: (filter) => listKeys(environment, filter, read),
    entries: (filter) => listEntries(environment, filter, { read, clock }),
    check,
    close: () => closeWithin(environment, CLOSE_TIMEOUT_MS),
  };
}

function attemptsOf(on: StoreAccess, { clock, onWarning }: EmbeddedStoreOptions): Attempt {
  return createAttempt(clock, {
    onFailing: (reason) => onWarning({ kind: 'store_failing', on, reason }),
    onRecovered: () => onWarning({ kind: 'store_recovered', on }),
  });
}

/** After a failed commit lmdb waits for a flush that never comes; what was committed is safe. */
async function closeWithin(environment: Environment, timeoutMs: number): Promise<void> {
  const abort = new AbortController();
  const timeout = wait(timeoutMs, undefined, { signal: abort.signal }).catch(() => undefined);
  await Promise.race([environment.close(), timeout]);
  abort.abort();
}

/** Unique over processes: a millisecond, and 1 of 1,024 in it. */
function nextStamp(nowMs: number): number {
  return Math.floor(nowMs) * STAMPS_PER_MS + randomInt(STAMPS_PER_MS);
}

function isStill(environment: Environment, key: CacheKey, stamp: number): boolean {
  try {
    return environment.doesExist(key, stamp);
  } catch {
    // What can't be read is read again, by the way that reports it.
    return false;
  }
}

async function* listKeys(
  environment: Environment,
  filter: EntryFilter,
  read: Attempt,
): AsyncGenerator<Done<readonly CacheKey[]>> {
  const { start, end } = rangeOf(filter);
  let last: CacheKey | undefined;
  for (;;) {
    const range = { start: last ?? start, end, exclusiveStart: last !== undefined };
    const page = await read(async (): Promise<Done<readonly CacheKey[]>> => {
      const keys = environment.getKeys({ ...range, limit: KEYS_PER_PAGE });
      return { state: 'done', value: [...keys] };
    });
    if (page.state === 'unavailable' || page.value.length > 0) yield page;
    if (page.state === 'unavailable' || page.value.length < KEYS_PER_PAGE) return;
    last = page.value.at(-1);
    await yieldTurn();
  }
}

interface EntryReading {
  readonly read: Attempt;
  readonly clock: Clock;
}

async function* listEntries(
  environment: Environment,
  filter: EntryFilter,
  { read, clock }: EntryReading,
): AsyncGenerator<Done<readonly StoredEntry[]>> {
  for await (const page of listKeys(environment, filter, read)) {
    if (page.state === 'unavailable') {
      yield page;
      return;
    }
    const found = await read(
      async (): Promise<Done<readonly StoredEntry[]>> => ({
        state: 'done',
        value: page.value.flatMap((key) => {
          const text = environment.get(key);
          const decoded = text === undefined ? null : decodeEntry(text, key, clock.now());
          return decoded?.state === 'entry' ? [{ key, entry: decoded.entry }] : [];
        }),
      }),
    );
    yield found;
    if (found.state === 'unavailable') return;
  }
}

/** A prefix ends in ':', and ';' is the next character. */
function rangeOf({ hostId, dimensionId }: EntryFilter): { start: string; end: string } {
  const start = hostId === undefined ? 'cache:' : formatCacheKeyPrefix(hostId, dimensionId);
  return { start, end: `${start.slice(0, -1)};` };
}
