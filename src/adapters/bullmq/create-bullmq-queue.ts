// The RefreshQueue port on Redis, by BullMQ: jobs outlive the process, machines share the work, and
// a job whose process died is taken over once. No request waits for any of it.
import { Queue } from 'bullmq';
import { LIMITS } from '../../core/limits.ts';
import type { RedisTarget } from '../../core/redis-target.ts';
import type { RefreshJob } from '../../core/refresh/refresh-job.ts';
import type { Clock } from '../../pipeline/ports.ts';
import type { RefreshQueue } from '../../pipeline/refresh-ports.ts';
import { createAsk, waitAtMost } from './ask-redis.ts';
import { createEnqueue } from './enqueue-job.ts';
import { type EventListeners, listenToEvents } from './listen-to-events.ts';
import { QUEUE } from './names.ts';
import { openEagerClient, openPatientClient } from './open-clients.ts';
import { type QueueWarning, reportOutages } from './report-outages.ts';
import { type RunningWorker, startJobWorker, type WorkerTimes } from './start-job-worker.ts';

export interface BullmqQueueOptions extends Partial<WorkerTimes> {
  readonly target: RedisTarget;
  readonly clock: Clock;
  readonly onWarning: (warning: QueueWarning) => void;
  /** Told what a job's run throws. */
  readonly onDefect: (error: unknown) => void;
  /** Jobs that may wait, delayed ones included. */
  readonly jobsMax?: number;
  /** How long adding waits at most. */
  readonly timeoutMs?: number;
  /** How long closing waits for running jobs. */
  readonly closeTimeoutMs?: number;
}

const JOBS_MAX = 100_000;
const CLOSE_TIMEOUT_MS = 20_000;
/** How long Redis may take to hear how the last jobs ended; BullMQ would wait for it forever. */
const FAREWELL_MS = 1_000;

/** Opens the queue. Redis being down is no error: jobs are not taken on until it is back. */
export function createBullmqQueue(options: BullmqQueueOptions): RefreshQueue {
  const { target, clock, onWarning, jobsMax = JOBS_MAX } = options;
  const { timeoutMs = LIMITS.storeTimeoutMs, closeTimeoutMs = CLOSE_TIMEOUT_MS } = options;
  const eager = openEagerClient(target, timeoutMs);
  const patient = openPatientClient(target);
  const outages = reportOutages(eager, onWarning);
  // What it says is said by the eager client as well; unheard, an error event ends the process.
  patient.client.on('error', outages.ignore);
  const queue = new Queue<RefreshJob>(QUEUE.name, {
    connection: eager,
    prefix: QUEUE.prefix,
    skipVersionCheck: true,
    skipWaitingForReady: true,
    streams: { events: { maxLen: QUEUE.eventsMax } },
  });
  queue.on('error', outages.ignore);
  const ask = createAsk({ client: eager, clock, outages, timeoutMs });
  const enqueue = createEnqueue(queue, jobsMax, clock);
  let worker: RunningWorker | null = null;
  let events: EventListeners | null = null;

  function listen(): EventListeners {
    events ??= listenToEvents(patient.client, outages, clock);
    return events;
  }

  return {
    name: 'bullmq',
    add: (job) => ask(() => enqueue(job)),
    work: (run, concurrency) => {
      worker = startJobWorker(
        { run, concurrency },
        { ...options, client: patient.client, outages },
      );
    },
    onFinished: (listener) => listen().onFinished(listener),
    onPutOff: (listener) => listen().onPutOff(listener),
    count: () =>
      ask(async () => {
        const counts = await queue.getJobCounts('prioritized', 'wait', 'delayed', 'active');
        const { prioritized = 0, wait = 0, delayed = 0, active = 0 } = counts;
        return { waiting: prioritized + wait, delayed, running: active };
      }),
    close: async () => {
      outages.close();
      const stopping = worker?.stop();
      await waitAtMost(closeTimeoutMs, Promise.resolve(stopping?.idle));
      const farewell = Promise.all([stopping?.closed, events?.close(), queue.close()]);
      await waitAtMost(FAREWELL_MS, farewell.catch(outages.ignore));
      eager.disconnect();
      patient.disconnectAll();
    },
  };
}
