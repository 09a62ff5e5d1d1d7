// Hears how jobs end, or are put off, on any machine, from the queue's event stream.

import { QueueEvents } from 'bullmq';
import { fieldsOf, isCount } from '../../core/records.ts';
import { isRefreshOutcome } from '../../core/refresh/refresh-result.ts';
import type { Clock } from '../../pipeline/ports.ts';
import type { FinishedRefresh, PutOffRefresh, RefreshQueue } from '../../pipeline/refresh-ports.ts';
import { keyOfJobId, QUEUE } from './names.ts';
import type { QueueClient } from './open-clients.ts';
import type { Outages } from './report-outages.ts';

export interface EventListeners {
  readonly onFinished: RefreshQueue['onFinished'];
  readonly onPutOff: RefreshQueue['onPutOff'];
  readonly close: () => Promise<void>;
}

/**
 * From where events are read, so that none between two reads is missed: before now, by any clock.
 */
const LOOK_BACK_MS = 60_000;

export function listenToEvents(
  client: QueueClient,
  outages: Outages,
  clock: Clock,
): EventListeners {
  const listeners = new Set<(finished: FinishedRefresh) => void>();
  const putOffListeners = new Set<(putOff: PutOffRefresh) => void>();
  const tell = (finished: FinishedRefresh): void => {
    for (const listener of listeners) listener(finished);
  };
  const events = new QueueEvents(QUEUE.name, {
    connection: client,
    prefix: QUEUE.prefix,
    skipVersionCheck: true,
    lastEventId: `${Math.max(0, clock.now() - LOOK_BACK_MS)}-0`,
  });
  events.on('error', outages.ignore);
  events.on('completed', ({ jobId, returnvalue }) => tell(readFinished(jobId, returnvalue)));
  // Only a job that was lost twice ends like this; what a run throws is an outcome.
  events.on('failed', ({ jobId }) =>
    tell({ key: keyOfJobId(jobId), outcome: 'failed', detail: 'lost' }),
  );
  events.on('progress', ({ jobId, data }) => {
    const putOff = readPutOff(jobId, data);
    for (const listener of putOffListeners) listener(putOff);
  });
  return {
    onFinished: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onPutOff: (listener) => {
      putOffListeners.add(listener);
      return () => void putOffListeners.delete(listener);
    },
    close: () => events.close(),
  };
}

/** From a store that others can write to. */
function readFinished(jobId: string, value: unknown): FinishedRefresh {
  const key = keyOfJobId(jobId);
  const { detail, outcome } = fieldsOf(value);
  return {
    key,
    outcome: isRefreshOutcome(outcome) ? outcome : 'failed',
    detail: typeof detail === 'string' ? detail : null,
  };
}

function readPutOff(jobId: string, value: unknown): PutOffRefresh {
  const { detail, delayMs } = fieldsOf(value);
  return {
    key: keyOfJobId(jobId),
    detail: typeof detail === 'string' ? detail : null,
    delayMs: isCount(delayMs) ? delayMs : 0,
  };
}
