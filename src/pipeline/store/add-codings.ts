// The second half of storing a page, behind everyone's back: its codings are made and added to its
// entry, unless that was purged or replaced meanwhile. Nothing else about the entry changes.
import { formatCacheKey } from '../../core/key/cache-key.ts';
import { isSameVersion } from '../../core/key/entry-version.ts';
import type { BodySet, Entry } from '../ports.ts';
import { claimInTurn } from './claim-bodies.ts';
import { compressBody } from './compress-body.ts';
import { digestBodies } from './digest-bodies.ts';
import type { PageStoreDeps } from './page-store-deps.ts';

/** Compresses a stored page in the background; resolves at once unless there is too much to do. */
export async function addCodings(
  entry: Entry,
  identity: Buffer,
  deps: PageStoreDeps,
): Promise<void> {
  const key = formatCacheKey(entry);
  await deps.background.add(identity.length, async () => {
    try {
      const codings = await compressBody(identity);
      if (codings.gzip === undefined && codings.br === undefined) return;
      const bodies = { identity, ...codings };
      await claimInTurn(key, deps, () => extendEntry(entry, bodies, deps));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      deps.onEvent({ kind: 'not_compressed', key, reason });
    }
  });
}

/** What the stores can't do now stays undone: the page is whole without it. */
async function extendEntry(entry: Entry, bodies: BodySet, deps: PageStoreDeps): Promise<void> {
  const key = formatCacheKey(entry);
  const current = await deps.entries.get(key);
  if (current.state !== 'found' || !isSameVersion(current.value, entry)) return;
  const written = await deps.bodies.write(entry, bodies, current.value.deleteAt);
  if (written.state === 'unavailable') return;
  await deps.entries.replace(key, current.value, {
    ...current.value,
    bodies: digestBodies(bodies, deps.hasher),
  });
}
