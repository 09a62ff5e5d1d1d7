// The EntryStore port on lmdb: one machine, any number of processes. A read is a look into mapped
// memory; a write is one transaction that survives a kill. Every write has a version of its own:
// removing what has expired never hits an entry another process has just put there, and what was
// read earlier is known to be current by comparing one number.
import { setTimeout as wait } from 'node:timers/promises';
import { formatCacheKeyPrefix, parseCacheKey } from '../../core/key/cache-key.ts';
import { decodeEntry } from '../../core/key/entry-codec.ts';
import type {
  CacheKey,
  Clock,
  Done,
  EntryFilter,
  EntryStore,
  FoundEntry,
  StoredEntry,
} from '../../pipeline/ports.ts';
import type { Attempt } from './attempt.ts';
import { createEmbeddedClaims, dropOldClaims } from './embedded-claims.ts';
import { type KeyRange, listKeys, rangeOfPrefix } from './list-keys.ts';
import { type Embedded, type EmbeddedStoreOptions, openEmbedded } from './open-embedded.ts';
import type { Environment } from './open-environment.ts';
import { createEntryWrites } from './write-entries.ts';

const KEYS_PER_SLICE = 500;
const CLOSE_TIMEOUT_MS = 2_000;
const DONE: Done<void> = { state: 'done', value: undefined };

/**
 * Makes the embedded entry store.
 *
 * @param embedded is closed with it; opened where it is not given
 * @throws StoreOpenError when it can't be opened
 */
export function createEmbeddedEntryStore(
  options: EmbeddedStoreOptions,
  embedded: Embedded = openEmbedded(options),
): EntryStore {
  const { environment, read, write, clock } = embedded;
  const claims = createEmbeddedClaims(embedded);
  void dropOldClaims(embedded);

  async function get(key: CacheKey): Promise<FoundEntry> {
    const found = await read(async () => environment.getEntry(key));
    if (found === undefined) return { state: 'absent' };
    if ('state' in found) return found;
    const decoded = decodeEntry(found.value, key, clock.now());
    const stamp = found.version ?? 0;
    if (decoded.state === 'entry') {
      return { state: 'found', value: decoded.entry, stamp, text: found.value };
    }
    if (decoded.state === 'foreign') return { state: 'absent' };
    await write(() => environment.remove(key, stamp));
    return decoded.state === 'expired'
      ? { state: 'absent' }
      : { state: 'damaged', reason: decoded.reason };
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
    ...createEntryWrites(embedded, claims),
    claim: claims.claim,
    release: claims.release,
    has: (key) => read(async () => ({ state: 'done', value: environment.doesExist(key) })),
    isCurrent: (key, stamp) => isStill(environment, key, stamp),
    keys: (filter) => listKeys(environment, rangeOf(filter), { read, limit: KEYS_PER_SLICE }),
    entries: (filter) => listEntries(environment, filter, { read, clock }),
    dimensions: (hostId) =>
      read(async () => ({ state: 'done', value: findDimensions(environment, hostId) })),
    check,
    close: () => closeWithin(environment, CLOSE_TIMEOUT_MS),
  };
}

/** After a failed commit lmdb waits for a flush that never comes; what was committed is safe. */
async function closeWithin(environment: Environment, timeoutMs: number): Promise<void> {
  const abort = new AbortController();
  const timeout = wait(timeoutMs, undefined, { signal: abort.signal }).catch(() => undefined);
  await Promise.race([environment.close(), timeout]);
  abort.abort();
}

function isStill(environment: Environment, key: CacheKey, stamp: number): boolean {
  try {
    return environment.doesExist(key, stamp);
  } catch {
    // What can't be read is read again, by the way that reports it.
    return false;
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
  const slices = listKeys(environment, rangeOf(filter), { read, limit: KEYS_PER_SLICE });
  for await (const slice of slices) {
    if (slice.state === 'unavailable') {
      yield slice;
      return;
    }
    const found = await read(
      async (): Promise<Done<readonly StoredEntry[]>> => ({
        state: 'done',
        value: slice.value.flatMap((key) => {
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

/** From one dimension's first key to the next one's: one look each. */
function findDimensions(environment: Environment, hostId: number): readonly number[] {
  const ids: number[] = [];
  const { start: first, end } = rangeOf({ hostId });
  let start = first;
  for (;;) {
    const [key] = environment.getKeys({ start, end, exclusiveStart: true, limit: 1 });
    if (key === undefined) return ids;
    const ref = parseCacheKey(key);
    if (ref !== null) ids.push(ref.dimensionId);
    start = ref === null ? key : rangeOf({ hostId, dimensionId: ref.dimensionId }).end;
  }
}

function rangeOf({ hostId, dimensionId }: EntryFilter): KeyRange {
  return rangeOfPrefix(hostId === undefined ? 'cache:' : formatCacheKeyPrefix(hostId, dimensionId));
}
