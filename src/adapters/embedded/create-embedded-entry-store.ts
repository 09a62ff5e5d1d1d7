// The EntryStore port on lmdb: one machine, any number of processes. A read is a look into mapped
// memory; a write is one transaction that survives a kill. The value's version is its deleteAt, so
// that removing what has expired never hits an entry another process has just put there.
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
  Found,
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

  async function get(key: CacheKey): Promise<Found<Entry>> {
    const found = await read(async () => environment.getEntry(key));
    if (found === undefined) return { state: 'absent' };
    if ('state' in found) return found;
    const decoded = decodeEntry(found.value, key, clock.now());
    if (decoded.state === 'entry') return { state: 'found', value: decoded.entry };
    if (decoded.state === 'foreign') return { state: 'absent' };
    await write(() => environment.remove(key, found.version ?? 0));
    return decoded.state === 'expired'
      ? { state: 'absent' }
      : { state: 'damaged', reason: decoded.reason };
  }

  function put(key: CacheKey, entry: Entry): Promise<Done<void>> {
    return write(async () => {
      await environment.put(key, encodeEntry(entry), entry.deleteAt);
      return DONE;
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
    delete: remove,
    keys: (filter) => listKeys(environment, filter, read),
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

async function* listKeys(
  environment: Environment,
  filter: EntryFilter,
  read: Attempt,
): AsyncGenerator<Done<readonly CacheKey[]>> {
  const prefix = formatCacheKeyPrefix(filter.hostId, filter.dimensionId);
  // The prefix ends in ':', and ';' is the next character.
  const end = `${prefix.slice(0, -1)};`;
  let last: CacheKey | undefined;
  for (;;) {
    const range = { start: last ?? prefix, end, exclusiveStart: last !== undefined };
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
