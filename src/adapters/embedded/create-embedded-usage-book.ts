// The UsageBook port on lmdb, beside the entries. A page has two rows, one by its key and one by
// its last use, and a host has its sums: a batch of changes moves all of them in one transaction,
// so that the sums are those of the rows after a kill at any moment.
import { parseCacheKey } from '../../core/key/cache-key.ts';
import type { CacheKey, Done } from '../../pipeline/ports.ts';
import type { HostUsage, UsageBook, UsageChange, UsedEntry } from '../../pipeline/upkeep-ports.ts';
import { listKeys, rangeOfPrefix } from './list-keys.ts';
import type { Embedded } from './open-embedded.ts';
import type { Environment } from './open-environment.ts';

/** `<seconds> <bytes>` by cache key. */
const ENTRY = 'usage-entry:';
/** Nothing, by `<seconds>:<cache key>`. */
const ORDER = 'usage-order:';
/** `<entries> <bytes>` by host id. */
const HOST = 'usage-host:';

const SECOND_DIGITS = 10;
const ROWS_PER_PAGE = 500;
/** A transaction runs in this thread: a few milliseconds of it at once. */
const CHANGES_PER_TRANSACTION = 200;

/** Makes the usage book of an embedded entry store. */
export function createEmbeddedUsageBook(embedded: Embedded): UsageBook {
  const { environment, read, write, clock } = embedded;

  async function apply(changes: readonly UsageChange[]): Promise<Done<void>> {
    for (let from = 0; from < changes.length; from += CHANGES_PER_TRANSACTION) {
      const some = changes.slice(from, from + CHANGES_PER_TRANSACTION);
      const needed = some.filter((change) => !isKnown(change, environment));
      if (needed.length === 0) continue;
      const done = await write(async (): Promise<Done<void>> => {
        await environment.transaction(() => applyAll(needed, environment, clock.now()));
        return { state: 'done', value: undefined };
      });
      if (done.state === 'unavailable') return done;
    }
    return { state: 'done', value: undefined };
  }

  function countHosts(): Promise<Done<readonly HostUsage[]>> {
    return read(async () => {
      const rows = environment.getRange({ ...rangeOfPrefix(HOST) });
      const value = [...rows].map(({ key, value: text }) => {
        const [entries, bytes] = readNumbers(text);
        return { hostId: Number(key.slice(HOST.length)), entries, bytes };
      });
      return { state: 'done', value: value.filter(({ entries }) => entries > 0) };
    });
  }

  function listOldest(count: number): Promise<Done<readonly UsedEntry[]>> {
    return read(async () => {
      const keys = environment.getKeys({ ...rangeOfPrefix(ORDER), limit: count });
      const start = ORDER.length + SECOND_DIGITS + 1;
      return { state: 'done', value: readRows([...keys].map((key) => key.slice(start))) };
    });
  }

  async function* list(): AsyncGenerator<Done<readonly UsedEntry[]>> {
    const paging = { read, limit: ROWS_PER_PAGE };
    for await (const slice of listKeys(environment, rangeOfPrefix(ENTRY), paging)) {
      if (slice.state === 'unavailable') yield slice;
      else {
        const keys = slice.value.map((key) => key.slice(ENTRY.length));
        yield await read(async () => ({ state: 'done', value: readRows(keys) }));
      }
    }
  }

  function readRows(keys: readonly CacheKey[]): readonly UsedEntry[] {
    return keys.flatMap((key) => {
      const row = readRow(environment, key);
      return row === null ? [] : [{ key, bytes: row.bytes }];
    });
  }

  return { apply, countHosts, listOldest, list };
}

/** What a sweep finds is nearly always as it is in the book. */
function isKnown(change: UsageChange, environment: Environment): boolean {
  return change.kind === 'found' && readRow(environment, change.key)?.bytes === change.bytes;
}

interface Row {
  readonly seconds: number;
  readonly bytes: number;
}

function applyAll(changes: readonly UsageChange[], environment: Environment, nowMs: number): void {
  const clockSeconds = Math.floor(nowMs / 1_000);
  // A clock that was set back must not make what is used now the oldest.
  const nowSeconds = Math.max(clockSeconds, latestSeconds(environment));
  const time = { nowSeconds, aheadSeconds: nowSeconds - clockSeconds };
  const hosts = new Map<number, { entries: number; bytes: number }>();
  for (const change of changes) {
    const { key } = change;
    const before = readRow(environment, key);
    const after = rowAfter(change, before, time);
    replaceRow(environment, key, before, after);
    const hostId = parseCacheKey(key)?.hostId ?? 0;
    const sums = hosts.get(hostId) ?? readSums(environment, hostId);
    hosts.set(hostId, {
      entries: sums.entries + Number(after !== null) - Number(before !== null),
      bytes: sums.bytes + (after?.bytes ?? 0) - (before?.bytes ?? 0),
    });
  }
  for (const [hostId, { entries, bytes }] of hosts) {
    environment.putSync(`${HOST}${hostId}`, `${entries} ${bytes}`);
  }
}

interface BookTime {
  readonly nowSeconds: number;
  /** Of the clock. */
  readonly aheadSeconds: number;
}

function rowAfter(change: UsageChange, before: Row | null, time: BookTime): Row | null {
  if (change.kind === 'gone') return null;
  const usedSeconds = Math.floor(change.usedAt / 1_000);
  if (change.kind === 'found') {
    const seconds = before?.seconds ?? Math.min(usedSeconds, time.nowSeconds);
    return { seconds, bytes: change.bytes };
  }
  const seconds = Math.min(usedSeconds + time.aheadSeconds, time.nowSeconds);
  if (change.kind === 'stored') return { seconds, bytes: change.bytes };
  return before && { seconds, bytes: before.bytes };
}

function replaceRow(
  environment: Environment,
  key: CacheKey,
  before: Row | null,
  after: Row | null,
): void {
  if (before !== null && before.seconds !== after?.seconds) {
    environment.removeSync(orderKey(before.seconds, key));
  }
  if (after === null) {
    if (before !== null) environment.removeSync(ENTRY + key);
    return;
  }
  environment.putSync(ENTRY + key, `${after.seconds} ${after.bytes}`);
  if (before?.seconds !== after.seconds) environment.putSync(orderKey(after.seconds, key), '');
}

function latestSeconds(environment: Environment): number {
  const { start, end } = rangeOfPrefix(ORDER);
  const [key] = environment.getKeys({ start: end, end: start, reverse: true, limit: 1 });
  return key === undefined ? 0 : Number(key.slice(ORDER.length, ORDER.length + SECOND_DIGITS));
}

function readRow(environment: Environment, key: CacheKey): Row | null {
  const text = environment.get(ENTRY + key);
  if (text === undefined) return null;
  const [seconds, bytes] = readNumbers(text);
  return { seconds, bytes };
}

function readSums(environment: Environment, hostId: number): { entries: number; bytes: number } {
  const [entries, bytes] = readNumbers(environment.get(`${HOST}${hostId}`) ?? '0 0');
  return { entries, bytes };
}

function orderKey(seconds: number, key: CacheKey): string {
  return `${ORDER}${String(seconds).padStart(SECOND_DIGITS, '0')}:${key}`;
}

/** Rows are our own; a number that was damaged counts as nothing and is put right by a sweep. */
function readNumbers(text: string): readonly [number, number] {
  const [first, second] = text.split(' ').map(Number);
  return [countOf(first), countOf(second)];
}

function countOf(value: number | undefined): number {
  return value !== undefined && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
