// A crawler's hit in a worker: the primary process has the queue, and what it stores all serve.
import { expect, test } from 'vitest';
import { ask as askOnce, page } from '../scenario/stage.ts';
import { type LogLine, startWorkerGateway, untilTrue } from './worker-gateway.ts';

test('a hit in a worker asks the primary process', async () => {
  let version = 0;
  const gateway = await startWorkerGateway({
    workers: 2,
    origin: () => {
      version += 1;
      return page(`v${version}`);
    },
    gateway: 'bothit_recache: {enabled: true, interval: 1s}\n',
  });
  const ask = async (): Promise<string> => (await askOnce(gateway.port, '/page')).body;
  expect(await ask()).toBe('v1');
  await untilTrue('a refreshed page', async () => (await ask()) !== 'v1');
  const jobsRun = (): readonly LogLine[] => gateway.log.filter(({ msg }) => msg === 'refresh');
  await untilTrue('it is logged', () => jobsRun().length > 0);
  const jobs = jobsRun();
  expect(jobs[0]).toMatchObject({ reason: 'bothit', outcome: 'stored' });
  expect(jobs.every(({ worker }) => worker === undefined)).toBe(true);
  expect(await gateway.metric('edge_gateway_refresh_jobs_total')).toBeGreaterThan(0);
}, 240_000);
