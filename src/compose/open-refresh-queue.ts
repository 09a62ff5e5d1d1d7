// The refresh queue of a gateway: in Redis where there is one, else in the process that leads.
import { createProcessQueue } from '../adapters/queue/create-process-queue.ts';
import type { Log } from '../adapters/telemetry/create-log.ts';
import type { Metrics } from '../adapters/telemetry/create-metrics.ts';
import type { Settings } from '../config/settings.ts';
import type { RedisTarget } from '../core/redis-target.ts';
import type { Clock } from '../pipeline/ports.ts';
import type { RefreshQueue } from '../pipeline/refresh-ports.ts';

export interface QueueParts {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** What it does not take on is counted. */
export async function openRefreshQueue(
  { redis }: Settings,
  parts: QueueParts,
): Promise<RefreshQueue> {
  const { metrics } = parts;
  const onDefect = (error: unknown): void => parts.log.error('defect', { err: error });
  const queue =
    redis === null ? createProcessQueue({ onDefect }) : await openBullmq(redis, onDefect, parts);
  metrics.watchRefreshQueue(async () => {
    const counts = await queue.count();
    return counts.state === 'done' ? counts.value : null;
  });
  return {
    ...queue,
    add: async (job) => {
      const added = await queue.add(job);
      const refusal = added.state === 'unavailable' ? added.state : added.value;
      if (refusal === 'unavailable' || refusal === 'full') {
        metrics.recordRefresh({ reason: job.reason, outcome: refusal });
      }
      return added;
    },
  };
}

/** BullMQ takes 25 MB of memory: only where it is used. */
async function openBullmq(
  target: RedisTarget,
  onDefect: (error: unknown) => void,
  { log, clock }: QueueParts,
): Promise<RefreshQueue> {
  const { createBullmqQueue } = await import('../adapters/bullmq/create-bullmq-queue.ts');
  return createBullmqQueue({
    target,
    clock,
    onWarning: (warning) => log.warn('refresh queue', { ...warning }),
    onDefect,
  });
}
