// The bytes of an entry that was just looked up: from memory, else from the store, once for all who
// ask at the same time. A body that is not what was stored takes its entry along.
import { formatCacheKey } from '../../core/key/cache-key.ts';
import { hasSameBody, isSameVersion } from '../../core/key/entry-version.ts';
import type { BodyReading, CacheKey, ContentCoding, Entry, Found } from '../ports.ts';
import { claimBodies } from './claim-bodies.ts';
import { dropBodies, type PageStoreDeps } from './page-store-deps.ts';

export type BodyReader = (
  entry: Entry,
  coding: ContentCoding,
  /** What came along with the look-up. */
  ahead?: BodyReading,
) => Promise<Found<Buffer>>;

const ABSENT: Found<never> = { state: 'absent' };
/** Looking up again finds what has taken its place. */
const REPLACED: Found<never> = { state: 'damaged', reason: 'replaced' };

export function createBodyReader(deps: PageStoreDeps): BodyReader {
  const running = new Map<string, Promise<Found<Buffer>>>();
  return async (entry, coding, ahead) => {
    const digest = entry.bodies[coding];
    if (digest === undefined) throw new RangeError(`${entry.url} is not stored as ${coding}`);
    const key = formatCacheKey(entry);
    const held = deps.memory.find(key);
    const body =
      held !== null && isSameVersion(held.entry, entry) ? held.bodies[coding] : undefined;
    if (body !== undefined) return { state: 'found', value: body };
    // Everything that makes two of them the same: of colliding URLs each has its own.
    const name = `${key} ${coding} ${digest.hash} ${digest.bytes} ${entry.cachedAt} ${entry.url}`;
    const others = running.get(name);
    if (others !== undefined) return await others;
    const read = ahead ?? ((...asked) => deps.bodies.read(entry, ...asked));
    const reading = readStored(entry, coding, read, deps).finally(() => running.delete(name));
    running.set(name, reading);
    return await reading;
  };
}

async function readStored(
  entry: Entry,
  coding: ContentCoding,
  read: BodyReading,
  deps: PageStoreDeps,
): Promise<Found<Buffer>> {
  const key = formatCacheKey(entry);
  const found = await read(coding, entry.bodies);
  if (found.state === 'unavailable') return found;
  if (found.state === 'found') {
    deps.memory.holdBody(key, entry, coding, found.value);
    return found;
  }
  const current = await deps.entries.get(key);
  if (current.state === 'unavailable') return current;
  if (current.state !== 'found') return ABSENT;
  if (!isStillSaid(current.value, entry, coding)) return REPLACED;
  return await readAlone(entry, coding, deps);
}

/**
 * Bodies are replaced before their metadata: only while nobody is doing that are those which are
 * not what the entry says damaged.
 */
async function readAlone(
  entry: Entry,
  coding: ContentCoding,
  deps: PageStoreDeps,
): Promise<Found<Buffer>> {
  const key = formatCacheKey(entry);
  const turn = await claimBodies(key, deps.entries, () => judgeBody(key, entry, coding, deps));
  if (turn.state !== 'done') return turn.state === 'busy' ? REPLACED : turn;
  const { isDropped, found } = turn.value;
  if (isDropped) await dropBodies(key, entry, deps);
  return found;
}

interface Judged {
  readonly found: Found<Buffer>;
  /** Whether its entry is gone for it. */
  readonly isDropped: boolean;
}

async function judgeBody(
  key: CacheKey,
  entry: Entry,
  coding: ContentCoding,
  deps: PageStoreDeps,
): Promise<Judged> {
  const kept = (found: Found<Buffer>): Judged => ({ found, isDropped: false });
  const current = await deps.entries.get(key);
  if (current.state === 'unavailable') return kept(current);
  if (current.state !== 'found') return kept(ABSENT);
  if (!isStillSaid(current.value, entry, coding)) return kept(REPLACED);
  const found = await deps.bodies.read(entry, coding, current.value.bodies);
  if (found.state === 'found' || found.state === 'unavailable') return kept(found);
  const reason = found.state === 'damaged' ? found.reason : 'missing';
  deps.onEvent({ kind: 'body_damaged', key, url: entry.url, reason });
  const deleted = await deps.entries.delete(key, current.text);
  if (deleted.state === 'unavailable') {
    deps.onEvent({ kind: 'not_deleted', key, reason: deleted.reason });
  }
  return { found: { state: 'damaged', reason }, isDropped: true };
}

/** Whether the entry in the store names the very body that was looked for. */
function isStillSaid(current: Entry, entry: Entry, coding: ContentCoding): boolean {
  return isSameVersion(current, entry) && hasSameBody(current, entry, coding);
}
