// When sweep and quota run: one process at a time over workers and machines, at a pace that leaves
// the process to those who serve. Runs in the primary process, or in the only one.
import type { Leases } from '../ports.ts';
import { evictPages, sumBytes } from './evict-pages.ts';
import { createPacer } from './pacer.ts';
import { type SweepReport, sweepStore } from './sweep-store.ts';
import type { Pace, UpkeepDeps } from './upkeep-deps.ts';

export interface UpkeepOptions {
  readonly deps: UpkeepDeps;
  readonly leases: Leases;
  /** `storage.max_bytes` */
  readonly bytesMax: number;
  /** `storage.cleanup.interval`; null: nothing is swept, the quota holds all the same. */
  readonly sweepIntervalMs: number | null;
  readonly random: () => number;
  readonly listener: UpkeepListener;
}

export interface UpkeepListener {
  readonly onSwept: (report: SweepReport, durationMs: number) => void;
  readonly onEvicted: (pages: number, stoppedBy: string | null) => void;
  readonly onDefect: (error: unknown) => void;
}

export interface Upkeep {
  /** Stops at the next slice, and waits for it. */
  readonly close: () => Promise<void>;
}

/** The first sweep comes when a start has settled, and sooner where sweeps come often. */
const FIRST_SWEEP_MS = 60_000;
/** Of an interval, both ways: processes that started together don't sweep together. */
const JITTER_SHARE = 0.1;
const QUOTA_CHECK_MS = 2_000;
/** Of the time that is work: a sweep has hours, an eviction must be faster than what is stored. */
const SWEEP_SHARE = 0.1;
const EVICT_SHARE = 0.5;

/** Starts both. */
export function startUpkeep(options: UpkeepOptions): Upkeep {
  const { deps, leases, bytesMax, sweepIntervalMs, random, listener } = options;
  const pacer = createPacer();

  async function sweep(): Promise<void> {
    await holdLease(leases, 'sweep', async (isHeld) => {
      const beganAt = performance.now();
      const report = await sweepStore(deps, paceOf(isHeld, SWEEP_SHARE));
      listener.onSwept(report, performance.now() - beganAt);
    });
  }

  async function checkQuota(): Promise<void> {
    const hosts = await deps.usage.countHosts();
    if (hosts.state === 'unavailable') return;
    if (sumBytes(hosts.value) <= bytesMax) return;
    await holdLease(leases, 'evict', async (isHeld) => {
      const { pages, stoppedBy } = await evictPages(bytesMax, deps, paceOf(isHeld, EVICT_SHARE));
      if (pages > 0) listener.onEvicted(pages, stoppedBy);
    });
  }

  function paceOf(isHeld: () => boolean, share: number): Pace {
    return {
      rest: (workedMs) => pacer.restAfter(workedMs, share),
      isStopped: () => pacer.isStopped() || !isHeld(),
    };
  }

  const jitter = (ms: number): number => ms * (1 + JITTER_SHARE * (2 * random() - 1));
  const loops = [repeat({ task: checkQuota, firstMs: 0, nextMs: () => jitter(QUOTA_CHECK_MS) })];
  if (sweepIntervalMs !== null) {
    const firstMs = jitter(Math.min(FIRST_SWEEP_MS, sweepIntervalMs));
    loops.push(repeat({ task: sweep, firstMs, nextMs: () => jitter(sweepIntervalMs) }));
  }

  function repeat({ task, firstMs, nextMs }: Repeated): Promise<void> {
    return (async () => {
      await pacer.wait(firstMs);
      while (!pacer.isStopped()) {
        await task().catch(listener.onDefect);
        await pacer.wait(nextMs());
      }
    })();
  }

  return {
    close: async () => {
      pacer.stop();
      await Promise.all(loops);
    },
  };
}

interface Repeated {
  readonly task: () => Promise<void>;
  readonly firstMs: number;
  readonly nextMs: () => number;
}

/** Runs a task if nobody else is at it; the next time comes soon enough. */
async function holdLease(
  leases: Leases,
  name: string,
  task: (isHeld: () => boolean) => Promise<void>,
): Promise<void> {
  const turn = await leases.enter(`upkeep:${name}`);
  if (turn.role !== 'leader') return;
  try {
    await task(turn.lease.isHeld);
  } finally {
    await turn.lease.release({ outcome: 'unshared', reason: null });
  }
}
