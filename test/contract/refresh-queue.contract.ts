// What every refresh queue must do; each adapter runs all of it.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { formatCacheKey } from '../../src/core/key/cache-key.ts';
import { type RefreshJob, TRIES_MAX } from '../../src/core/refresh/refresh-job.ts';
import type {
  FinishedRefresh,
  RefreshQueue,
  RefreshStep,
} from '../../src/pipeline/refresh-ports.ts';
import { waitUntil } from '../helpers/wait-until.ts';

export interface QueueSubject {
  readonly queue: RefreshQueue;
  readonly defects: readonly unknown[];
  readonly dispose: () => Promise<void>;
}

/** Room of the queues under test: 10, 9 and 8 by urgency. */
export const JOBS_MAX = 10;

/** A job for one of the pages 1, 2, 3 … */
export function makeJob(page: number, fields: Partial<RefreshJob> = {}): RefreshJob {
  const hash = page.toString(16).padStart(16, '0');
  return {
    key: formatCacheKey({ hostId: 1, dimensionId: 2, hash }),
    url: `https://example.com/${page}`,
    hostId: 1,
    dimensionId: 2,
    reason: 'warm',
    askedAt: 1_000,
    failures: 0,
    tries: TRIES_MAX,
    ...fields,
  };
}

export interface Gate {
  readonly taken: readonly {
    readonly job: RefreshJob;
    readonly end: (step: RefreshStep) => void;
  }[];
  readonly run: (job: RefreshJob) => Promise<RefreshStep>;
}

/** A run that the test ends itself, job by job. */
export function createGate(): Gate {
  const taken: Gate['taken'][number][] = [];
  return {
    taken,
    run: (job) =>
      new Promise((resolve) => {
        taken.push({ job, end: resolve });
      }),
  };
}

export const STORED: RefreshStep = { outcome: 'stored', detail: null };

/** @param open gives an empty queue */
export function describeRefreshQueue(name: string, open: () => Promise<QueueSubject>): void {
  describe(`refresh queue: ${name}`, () => {
    let subject: QueueSubject;
    let queue: RefreshQueue;
    beforeEach(async () => {
      subject = await open();
      queue = subject.queue;
    });
    afterEach(() => subject.dispose());

    const add = async (job: RefreshJob): Promise<string> => {
      const done = await queue.add(job);
      return done.state === 'done' ? done.value : done.reason;
    };
    /** Runs everything there is, one at a time, and tells in which order. */
    const runAll = async (count: number): Promise<readonly RefreshJob[]> => {
      const seen: RefreshJob[] = [];
      queue.work(
        async (job) => {
          seen.push(job);
          return STORED;
        },
        () => 1,
      );
      await waitUntil(`${count} jobs`, () => seen.length >= count);
      return seen;
    };

    test('a job comes back as it was added', async () => {
      const job = makeJob(1, { reason: 'bothit', askedAt: 77, failures: 2 });
      expect(await add(job)).toBe('added');
      expect(await runAll(1)).toEqual([job]);
    });

    test('the urgent first, and in order among equals', async () => {
      for (const [page, reason] of [
        [1, 'warm'],
        [2, 'bothit'],
        [3, 'recache'],
        [4, 'warm'],
        [5, 'recache'],
        [6, 'bothit'],
      ] as const) {
        await add(makeJob(page, { reason }));
      }
      const seen = await runAll(6);
      expect(seen.map(({ url }) => url.at(-1)).join('')).toBe('352614');
    });

    test('asked again while it waits: one job, as urgent as the more urgent, as late', async () => {
      await add(makeJob(1, { askedAt: 1_000 }));
      await add(makeJob(2, { askedAt: 1_000, tries: 1 }));
      expect(await add(makeJob(2, { reason: 'recache', askedAt: 3_000 }))).toBe('merged');
      expect(await add(makeJob(2, { reason: 'bothit', askedAt: 2_000 }))).toBe('merged');
      expect(await queue.count()).toMatchObject({ value: { waiting: 2, delayed: 0, running: 0 } });
      expect(await runAll(2)).toEqual([
        makeJob(2, { reason: 'recache', askedAt: 3_000 }),
        makeJob(1),
      ]);
    });

    test('asked again while it runs: once more', async () => {
      const gate = createGate();
      queue.work(gate.run, () => 1);
      await add(makeJob(1));
      await waitUntil('it runs', () => gate.taken.length === 1);
      await add(makeJob(1, { reason: 'recache', askedAt: 2_000 }));
      await add(makeJob(1, { reason: 'recache', askedAt: 3_000 }));
      gate.taken[0]?.end(STORED);
      await waitUntil('it runs again', () => gate.taken.length === 2);
      expect(gate.taken[1]?.job).toEqual(makeJob(1, { reason: 'recache', askedAt: 3_000 }));
      gate.taken[1]?.end(STORED);
      await waitUntil('nothing is left', async () => await isEmpty(queue));
      expect(gate.taken).toHaveLength(2);
    });

    test('no more at a time than it may be', async () => {
      const gate = createGate();
      for (let page = 1; page <= 5; page += 1) await add(makeJob(page));
      queue.work(gate.run, () => 2);
      await waitUntil('two run', () => gate.taken.length === 2);
      expect(await queue.count()).toEqual({
        state: 'done',
        value: { waiting: 3, delayed: 0, running: 2 },
      });
      for (let ended = 0; ended < 5; ended += 1) {
        await waitUntil('the next runs', () => gate.taken.length > ended);
        expect(gate.taken.length - ended).toBeLessThanOrEqual(2);
        gate.taken[ended]?.end(STORED);
      }
      await waitUntil('nothing is left', async () => await isEmpty(queue));
    });

    test('put off: it comes back as it was then, and the others go first', async () => {
      const seen: RefreshJob[] = [];
      queue.work(
        async (job) => {
          seen.push(job);
          if (job.failures > 0 || job.reason === 'warm') return STORED;
          return { outcome: 'later', detail: 'busy', job: { ...job, failures: 1 }, delayMs: 300 };
        },
        () => 1,
      );
      await add(makeJob(1, { reason: 'recache' }));
      await add(makeJob(2));
      await waitUntil('all three', () => seen.length === 3);
      expect(seen).toEqual([
        makeJob(1, { reason: 'recache' }),
        makeJob(2),
        makeJob(1, { reason: 'recache', failures: 1 }),
      ]);
    });

    test('a queue has an end, and the less urgent meet it first', async () => {
      const answers: string[] = [];
      let page = 0;
      for (const reason of ['warm', 'bothit', 'recache'] as const) {
        for (let turn = 0; turn < JOBS_MAX; turn += 1) {
          page += 1;
          answers.push(`${reason} ${await add(makeJob(page, { reason }))}`);
        }
      }
      const taken = answers.filter((answer) => answer.endsWith('added'));
      expect(taken.filter((answer) => answer.startsWith('warm'))).toHaveLength(8);
      expect(taken.filter((answer) => answer.startsWith('bothit'))).toHaveLength(1);
      expect(taken.filter((answer) => answer.startsWith('recache'))).toHaveLength(1);
      expect(answers.filter((answer) => answer.endsWith('full'))).toHaveLength(20);
    });

    test('tells how each job ended', async () => {
      const heard: FinishedRefresh[] = [];
      const stop = queue.onFinished((finished) => heard.push(finished));
      queue.work(
        async ({ failures }) => {
          if (failures === 7) throw new Error('broken');
          return { outcome: 'unstored', detail: 'private' };
        },
        () => 1,
      );
      await add(makeJob(1));
      await add(makeJob(2, { failures: 7 }));
      await waitUntil('both are told of', () => heard.length === 2);
      expect(heard).toEqual([
        { key: makeJob(1).key, outcome: 'unstored', detail: 'private' },
        { key: makeJob(2).key, outcome: 'failed', detail: 'defect' },
      ]);
      expect(subject.defects).toHaveLength(1);
      stop();
      await add(makeJob(3));
      await waitUntil('nothing is left', async () => await isEmpty(queue));
      expect(heard).toHaveLength(2);
    });

    test('tells of each job that is put off, and why', async () => {
      const heard: unknown[] = [];
      const stop = queue.onPutOff((putOff) => heard.push(putOff));
      queue.onFinished(({ outcome }) => heard.push(outcome));
      queue.work(
        async (job) => {
          if (job.failures > 0) return STORED;
          return { outcome: 'later', detail: 'busy', job: { ...job, failures: 1 }, delayMs: 50 };
        },
        () => 1,
      );
      await add(makeJob(1));
      await waitUntil('it has ended', () => heard.includes('stored'));
      expect(heard).toEqual([{ key: makeJob(1).key, detail: 'busy', delayMs: 50 }, 'stored']);
      stop();
      await add(makeJob(2));
      await waitUntil('the other has ended', () => heard.length === 3);
      expect(heard[2]).toBe('stored');
    });

    test('closing waits for what runs and hands out no more', async () => {
      const gate = createGate();
      queue.work(gate.run, () => 1);
      await add(makeJob(1));
      await add(makeJob(2));
      await waitUntil('one runs', () => gate.taken.length === 1);
      let isOver = false;
      const closed = queue.close().then(() => {
        isOver = true;
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(isOver).toBe(false);
      gate.taken[0]?.end(STORED);
      await closed;
      expect(gate.taken).toHaveLength(1);
      expect(await queue.add(makeJob(3))).toMatchObject({ state: 'unavailable' });
    });
  });
}

async function isEmpty(queue: RefreshQueue): Promise<boolean> {
  const counts = await queue.count();
  if (counts.state !== 'done') return false;
  const { waiting, delayed, running } = counts.value;
  return waiting + delayed + running === 0;
}
