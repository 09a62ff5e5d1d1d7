// Background jobs: how many at once, in which order, and who has to wait.
import { describe, expect, test } from 'vitest';
import { createBackgroundJobs } from '../../src/pipeline/store/background-jobs.ts';
import { createKeyTurns } from '../../src/pipeline/store/key-turns.ts';

/** A job that ends when it is told. */
function makeJob(log: string[], name: string) {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const run = async (): Promise<void> => {
    log.push(`${name} begins`);
    await ended;
    log.push(`${name} ends`);
  };
  return { run, end: () => end() };
}

const LIMITS = { jobsAtOnce: 2, bytesMax: 100 };

describe('background jobs', () => {
  test('as many at once as may be, the others in order', async () => {
    const log: string[] = [];
    const jobs = createBackgroundJobs(LIMITS);
    const made = ['a', 'b', 'c'].map((name) => makeJob(log, name));
    for (const job of made) await jobs.add(1, job.run);
    expect(log).toEqual(['a begins', 'b begins']);
    for (const job of made) job.end();
    await jobs.drain();
    expect(log).toEqual(['a begins', 'b begins', 'a ends', 'b ends', 'c begins', 'c ends']);
  });

  test('who brings more than may lie about waits until that is done', async () => {
    const log: string[] = [];
    const jobs = createBackgroundJobs(LIMITS);
    const [first, second] = [makeJob(log, 'a'), makeJob(log, 'b')];
    await jobs.add(60, first.run);
    const added = jobs.add(60, second.run).then(() => log.push('told'));
    first.end();
    second.end();
    await added;
    expect(log.at(-1)).toBe('told');
    expect(log).toContain('b ends');
    await jobs.add(60, async () => undefined);
    await jobs.drain();
  });

  test('draining waits for what is added meanwhile, and for nothing when there is nothing', async () => {
    const log: string[] = [];
    const jobs = createBackgroundJobs(LIMITS);
    await jobs.drain();
    await jobs.add(1, async () => {
      await jobs.add(1, async () => void log.push('second'));
      log.push('first');
    });
    await jobs.drain();
    expect(log.sort()).toEqual(['first', 'second']);
  });
});

describe('turns by key', () => {
  test('one after another for a key, also after a failure; keys don’t wait for each other', async () => {
    const log: string[] = [];
    const turns = createKeyTurns();
    const [first, second] = [makeJob(log, 'a'), makeJob(log, 'b')];
    const failing = turns.take('1', async () => {
      await first.run();
      throw new Error('failed');
    });
    const next = turns.take('1', second.run);
    expect(await turns.take('2', async () => 'other key')).toBe('other key');
    expect(log).toEqual(['a begins']);
    first.end();
    second.end();
    await expect(failing).rejects.toThrow('failed');
    await next;
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  });
});
