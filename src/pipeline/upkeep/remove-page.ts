// Takes a page away that nobody asked to go, while others may be storing it anew: metadata goes in
// the version that was looked at, and bodies only while there is no metadata and nobody can have
// just put them there. What is left for that reason is nobody's, and goes with a later sweep.
import type { BodyRef, Done } from '../ports.ts';
import { deleteOrphan } from '../store/claim-bodies.ts';
import type { StoredItem } from '../upkeep-ports.ts';
import { SETTLED_MS, type UpkeepDeps } from './upkeep-deps.ts';

const LEFT: Done<boolean> = { state: 'done', value: false };

/** Removes a page; the value says whether it was still the one that was looked at. */
export async function removePage(
  item: StoredItem,
  ref: BodyRef,
  deps: UpkeepDeps,
): Promise<Done<boolean>> {
  const removed = await deps.inventory.remove(item);
  if (removed.state === 'unavailable' || !removed.value) return removed;
  const bodies = await removeBodies(ref, deps.clock.now() - SETTLED_MS, deps);
  return bodies.state === 'unavailable' ? bodies : removed;
}

/** Removes bodies without metadata, unless they came after `before`; says whether they went. */
export async function removeBodies(
  ref: BodyRef,
  before: number,
  { files, bodies, entries }: UpkeepDeps,
): Promise<Done<boolean>> {
  if (files !== null) {
    const old = await files.findOld([ref], before);
    if (old.state === 'unavailable') return old;
    if (old.value.length === 0) return LEFT;
  }
  return await deleteOrphan(ref, { entries, bodies });
}
