// Sweep and quota of a gateway, and a look at whether its store drops things by itself: in the
// process that leads, once for all of its workers.
import type { Settings } from '../config/settings.ts';
import { startUpkeep } from '../pipeline/upkeep/create-upkeep.ts';
import type { Foundation } from './foundation.ts';
import type { Releases } from './releases.ts';

export async function runUpkeep(
  { storage }: Settings,
  { stores, lasting, log, metrics }: Foundation,
  releases: Releases,
): Promise<void> {
  const { usage } = stores.upkeep;
  metrics.watchUsage(async () => {
    const hosts = await usage.countHosts();
    return hosts.state === 'done' ? hosts.value : null;
  });
  const upkeep = startUpkeep({
    deps: stores.upkeep,
    leases: lasting.pipeline.leases,
    bytesMax: storage.bytesMax,
    sweepIntervalMs: storage.cleanupIntervalMs,
    random: Math.random,
    listener: {
      onSwept: ({ entries, removed, settled, stoppedBy }, durationMs) => {
        for (const [reason, count] of removed) metrics.recordRemoved(reason, count);
        log.info('swept', {
          entries,
          removed: Object.fromEntries(removed),
          settled,
          duration_ms: Math.round(durationMs),
          ...(stoppedBy === null ? {} : { stopped_by: stoppedBy }),
        });
      },
      onEvicted: (pages, stoppedBy) => {
        metrics.recordRemoved('quota', pages);
        log.info('evicted', { pages, ...(stoppedBy === null ? {} : { stopped_by: stoppedBy }) });
      },
      onDefect: lasting.pipeline.onDefect,
    },
  });
  releases.add(upkeep.close);
  // It warns by itself.
  await stores.checkEviction?.();
}
