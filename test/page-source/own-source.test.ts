// The page source over the gateway's own render service: while it starts, and in the moment of its
// crash, a job waits for it; where it has failed, nobody does.
import { expect, onTestFinished, test } from 'vitest';
import type { OwnService } from '../../src/adapters/render-service/ask-own.ts';
import { createServiceSource } from '../../src/adapters/render-service/create-service-source.ts';
import type { Done, PageSource } from '../../src/pipeline/ports.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { startRenderService, type TestRenderService } from '../helpers/render-service.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { noAbort, pageJob, pageOf, wordOf } from './page-jobs.ts';
import { PAGE_BYTES_MAX } from './page-source.contract.ts';

const READY: Done<void> = { state: 'done', value: undefined };
const FAILED = { state: 'unavailable', reason: 'renderer_failed: no browser' } as const;
const NEVER = new Promise<never>(() => undefined);
const TOKEN = 'test-render-token';

interface OwnStage {
  readonly source: PageSource;
  /** Starts the service where the source looks for it. */
  readonly startService: () => Promise<TestRenderService>;
}

async function setOwn(own: Partial<OwnService>): Promise<OwnStage> {
  const port = await findFreePort();
  const source = createServiceSource({
    clock: { now: Date.now },
    urls: [`http://127.0.0.1:${port}`],
    token: TOKEN,
    protocol: 'edge-gateway',
    pageBytesMax: PAGE_BYTES_MAX,
    own: { untilReady: async () => READY, waitersMax: 4, ...own },
  });
  onTestFinished(source.close);
  return {
    source,
    startService: async () => {
      const service = await startRenderService(port);
      onTestFinished(service.close);
      return service;
    },
  };
}

test('nobody listens yet: it is asked as soon as it is ready, with the time that is left', async () => {
  let service: TestRenderService | null = null;
  const { source, startService } = await setOwn({
    untilReady: async () => {
      service = await startService();
      return READY;
    },
  });
  pageOf(await source.get(pageJob([]), noAbort()));
  const [request] = (service as TestRenderService | null)?.requests ?? [];
  expect(request?.timeout_ms).toBeGreaterThan(1_000);
  expect(request?.timeout_ms).toBeLessThan(9_500);
});

test('it is said to be ready, and is gone: asked again in a moment', async () => {
  let asked = 0;
  const { source, startService } = await setOwn({
    untilReady: async () => {
      asked += 1;
      if (asked === 3) await startService();
      return READY;
    },
  });
  expect(wordOf(await source.get(pageJob([]), noAbort()))).toBe('200');
  expect(asked).toBe(3);
});

test('it is said to be ready, and stays away: not for ever', async () => {
  const { source } = await setOwn({});
  const result = await source.get(pageJob([]), noAbort());
  expect(result).toMatchObject({ reason: 'no_renderer', detail: 'ECONNREFUSED' });
});

test('it has failed: an answer at once, and each time it is asked anew', async () => {
  const { source, startService } = await setOwn({ untilReady: async () => FAILED });
  for (let round = 1; round <= 2; round += 1) {
    const result = await source.get(pageJob([]), noAbort());
    expect(result).toMatchObject({ reason: 'no_renderer', detail: FAILED.reason });
  }
  await startService();
  expect(wordOf(await source.get(pageJob([]), noAbort()))).toBe('200');
});

test.each([
  ['once: asked again', 1, '200', 2],
  ['with each page: twice is enough', 9, 'no_renderer', 2],
])('it ends while it renders, %s', async (_what, losses, word, requests) => {
  let lost = 0;
  const { source, startService } = await setOwn({
    untilReady: async () => {
      lost += 1;
      if (lost >= losses) service.script('*', { kind: 'page', html: 'made' });
      return READY;
    },
  });
  const service = await startService();
  service.script('*', { kind: 'reset' });
  expect(wordOf(await source.get(pageJob([]), noAbort()))).toBe(word);
  expect(service.requests).toHaveLength(requests);
});

test('more than it could take do not wait', async () => {
  let isReady = (_state: Done<void>): void => undefined;
  const ready = new Promise<Done<void>>((resolve) => {
    isReady = resolve;
  });
  let waiting = 0;
  const { source, startService } = await setOwn({
    waitersMax: 2,
    untilReady: async () => {
      waiting += 1;
      return await ready;
    },
  });
  const jobs = [1, 2].map(() => source.get(pageJob([]), noAbort()));
  await waitUntil('both wait', () => waiting === 2);
  expect(wordOf(await source.get(pageJob([]), noAbort()))).toBe('renderer_full');
  await startService();
  isReady(READY);
  expect((await Promise.all(jobs)).map(wordOf)).toEqual(['200', '200']);
});

test('a job waits no longer than its time; that says nothing against the service', async () => {
  const { source, startService } = await setOwn({ untilReady: () => NEVER });
  const job = pageJob([], { renderChanges: { timeoutMs: 200 } });
  expect(wordOf(await source.get(job, noAbort()))).toBe('render_timeout');
  await startService();
  expect(wordOf(await source.get(pageJob([]), noAbort()))).toBe('200');
});

test('/ready and the metrics say how it is', async () => {
  const starting: Done<void> = { state: 'unavailable', reason: 'renderer_starting' };
  let state: Done<void> = { ...starting };
  const { source, startService } = await setOwn({ untilReady: async () => state });
  expect(await source.check()).toEqual(starting);
  expect(await source.renderers()).toEqual([{ name: 'own', isReady: false }]);
  const service = await startService();
  state = READY;
  expect(await source.check()).toEqual(READY);
  expect(await source.renderers()).toEqual([{ name: 'own', isReady: true }]);
  service.setReady(false);
  expect(await source.check()).toMatchObject({ reason: 'no render service is ready' });
});
