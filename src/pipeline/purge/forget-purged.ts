// What a purge means for this process besides its store: what was learned about the page is
// forgotten, and fetches that began before the purge are not joined any more.
import { parseCacheKey } from '../../core/key/cache-key.ts';
import { compileSelector, type PurgeablePage } from '../../core/purge/match-selector.ts';
import type { PurgeRecord } from '../../core/purge/purge-record.ts';
import { formatIdentity, type PipelineDeps } from '../deps.ts';

/** What this process knows about pages, each under its identity. */
export type ProcessMemories = Pick<
  PipelineDeps,
  'failures' | 'knownNonPages' | 'knownUnshared' | 'fills' | 'flights' | 'exchanges'
>;

const NOWHERE = { hostId: 0, dimensionId: 0 };

/** Forgets what purges mean that have become known. */
export function forgetPurged(records: readonly PurgeRecord[], memories: ProcessMemories): void {
  for (const { selector, undoes } of records) {
    if (undoes !== null) continue;
    if (selector.kind === 'url' && selector.dimensionId !== undefined) {
      for (const key of selector.keys) forgetPage(formatIdentity(key, selector.url), memories);
      continue;
    }
    const isMeant = compileSelector(selector);
    forgetWhere((identity, tags) => isMeant({ ...readIdentity(identity), tags }), memories);
  }
}

/** Forgets one page in one dimension, at no cost to speak of: any client can have it done. */
export function forgetPage(purged: string, memories: ProcessMemories): void {
  for (const memory of remembering(memories)) memory.forget(purged);
  detachFetches((identity) => identity === purged, memories);
}

type IsMeant = (identity: string, tags: readonly string[] | null) => boolean;

function forgetWhere(isMeant: IsMeant, memories: ProcessMemories): void {
  for (const memory of remembering(memories)) {
    memory.forgetWhere((identity) => isMeant(identity, []));
  }
  detachFetches(isMeant, memories);
}

function remembering(memories: ProcessMemories) {
  return [memories.failures, memories.knownNonPages, memories.knownUnshared];
}

/** They go on for those who wait. */
function detachFetches(isMeant: IsMeant, memories: ProcessMemories): void {
  memories.fills.purge((identity) => isMeant(identity, []));
  // The tags of what is on its way are not known yet: who comes now must not get it.
  memories.flights.detach((identity) => isMeant(identity, null));
  // Behind the identity stands which variant it is.
  memories.exchanges.detach((name) => isMeant(name.split('\n', 1)[0] ?? '', null));
}

/** As `formatIdentity` wrote it. */
function readIdentity(identity: string): Omit<PurgeablePage, 'tags'> {
  const space = identity.indexOf(' ');
  const { hostId, dimensionId } = parseCacheKey(identity.slice(0, space)) ?? NOWHERE;
  return { hostId, dimensionId, url: identity.slice(space + 1) };
}
