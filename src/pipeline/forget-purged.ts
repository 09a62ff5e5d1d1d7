// What a purge means for this process besides its store: what was learned about the page is
// forgotten, and fetches that began before the purge are neither stored nor joined any more.
import { formatCacheKeyPrefix } from '../core/key/cache-key.ts';
import { formatIdentity, type PipelineDeps } from './deps.ts';
import type { Purgeable } from './purge-pages.ts';
import type { PurgeMode } from './purge-stored.ts';

/** The store for `purgePages`, of a process that also serves. */
export function forgetPurged(deps: PipelineDeps): Purgeable {
  const forget = (isMeant: (identity: string) => boolean, mode: PurgeMode): void => {
    if (mode.dryRun) return;
    for (const memory of [deps.failures, deps.knownNonPages, deps.knownUnshared]) {
      memory.forgetWhere(isMeant);
    }
    deps.fills.purge(isMeant, mode);
    deps.flights.detach(isMeant);
  };
  return {
    purge: (key, ref, url, mode) => {
      const purged = formatIdentity(key, url);
      forget((identity) => identity === purged, mode);
      return deps.pages.purge(key, ref, url, mode);
    },
    purgeHost: (hostId, mode) => {
      const prefix = formatCacheKeyPrefix(hostId);
      forget((identity) => identity.startsWith(prefix), mode);
      return deps.pages.purgeHost(hostId, mode);
    },
  };
}
