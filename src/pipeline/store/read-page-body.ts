// The bytes of an entry that was just looked up: from memory, else from the store, once for all who
// ask at the same time. A body that is not what was stored takes its entry along.
import { setTimeout as wait } from 'node:timers/promises';
import { formatCacheKey } from '../../core/key/cache-key.ts';
import { hasSameBody, isSameVersion } from '../../core/key/entry-version.ts';
import type { BodyReading, CacheKey, ContentCoding, Entry, Found } from '../ports.ts';
import { dropPage, type PageStoreDeps } from './page-store-deps.ts';

export type BodyReader = (
  entry: Entry,
  coding: ContentCoding,
  /** What came along with the look-up. */
  ahead?: BodyReading,
) => Promise<Found<Buffer>>;

/** How long another process may take from renaming the new bodies to writing their metadata. */
const REPLACING_MS = 100;

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
  const digest = entry.bodies[coding] ?? entry.bodies.identity;
  const found = await read(coding, digest);
  if (found.state === 'unavailable') return found;
  if (found.state === 'found') {
    deps.memory.holdBody(key, entry, coding, found.value);
    return found;
  }
  const current = await readSettledEntry(key, entry, coding, deps);
  if (current.state === 'unavailable') return current;
  if (current.state !== 'found') return { state: 'absent' };
  if (!isStillSaid(current.value, entry, coding)) return { state: 'damaged', reason: 'replaced' };
  const reason = found.state === 'damaged' ? found.reason : 'missing';
  deps.onEvent({ kind: 'body_damaged', key, url: entry.url, reason });
  await dropPage(key, entry, deps);
  return { state: 'damaged', reason };
}

/** Bodies are replaced before their metadata, so the entry is given a moment to follow. */
async function readSettledEntry(
  key: CacheKey,
  entry: Entry,
  coding: ContentCoding,
  deps: PageStoreDeps,
): Promise<Found<Entry>> {
  const current = await deps.entries.get(key);
  if (current.state !== 'found' || !isStillSaid(current.value, entry, coding)) return current;
  await wait(REPLACING_MS);
  return deps.entries.get(key);
}

/** Whether the entry in the store names the very body that was looked for. */
function isStillSaid(current: Entry, entry: Entry, coding: ContentCoding): boolean {
  return isSameVersion(current, entry) && hasSameBody(current, entry, coding);
}
