// What a purge means for this process besides its store: what was learned about the page is
// forgotten, and fetches that began before the purge are not joined any more.
import { parseCacheKey } from '../core/key/cache-key.ts';
import { compileSelector, type PurgeablePage } from '../core/purge/match-selector.ts';
import type { PurgeRecord } from '../core/purge/purge-record.ts';
import type { PipelineDeps } from './deps.ts';

/** What this process knows about pages, each under its identity. */
export type ProcessMemories = Pick<
  PipelineDeps,
  'failures' | 'knownNonPages' | 'knownUnshared' | 'fills' | 'flights' | 'exchanges'
>;

/** Forgets what purges mean that have become known. */
export function forgetPurged(records: readonly PurgeRecord[], memories: ProcessMemories): void {
  for (const { selector, undoes } of records) {
    if (undoes !== null) continue;
    const isMeant = compileSelector(selector);
    forgetWhere((identity, tags) => isMeant({ ...readIdentity(identity), tags }), memories);
  }
}

/** Forgets one page, without a purge: its entry is dealt with by the caller. */
export function forgetPage(purged: string, memories: ProcessMemories): void {
  forgetWhere((identity) => identity === purged, memories);
}

function forgetWhere(
  isMeant: (identity: string, tags: readonly string[] | null) => boolean,
  memories: ProcessMemories,
): void {
  for (const memory of [memories.failures, memories.knownNonPages, memories.knownUnshared]) {
    memory.forgetWhere((identity) => isMeant(identity, []));
  }
  memories.fills.purge((identity) => isMeant(identity, []));
  // The tags of what is on its way are not known yet: who comes now must not get it.
  memories.flights.detach((identity) => isMeant(identity, null));
  // Behind the identity stands which variant it is.
  memories.exchanges.detach((name) => isMeant(name.split('\n', 1)[0] ?? '', null));
}

/** As `formatIdentity` wrote it. */
function readIdentity(identity: string): Pick<PurgeablePage, 'hostId' | 'url'> {
  const space = identity.indexOf(' ');
  const hostId = parseCacheKey(identity.slice(0, space))?.hostId ?? 0;
  return { hostId, url: identity.slice(space + 1) };
}
