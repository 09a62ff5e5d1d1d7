// Whether two readings of a key show the same stored page. Codings may have been added meanwhile,
// and a purge may have made it stale: the page itself is the same, and so are its bytes.
import type { ContentCoding, Entry } from './entry.ts';

export function isSameVersion(a: Entry, b: Entry): boolean {
  return a.url === b.url && a.cachedAt === b.cachedAt && hasSameBody(a, b, 'identity');
}

/** Whether both have this coding, with the same digest. */
export function hasSameBody(a: Entry, b: Entry, coding: ContentCoding): boolean {
  const [first, second] = [a.bodies[coding], b.bodies[coding]];
  if (first === undefined || second === undefined) return false;
  return first.hash === second.hash && first.bytes === second.bytes;
}
