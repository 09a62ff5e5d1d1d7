// The queue in memory under the contract.
import { createProcessQueue } from '../../src/adapters/queue/create-process-queue.ts';
import { describeRefreshQueue, JOBS_MAX } from './refresh-queue.contract.ts';

describeRefreshQueue('process', async () => {
  const defects: unknown[] = [];
  const queue = createProcessQueue({
    onDefect: (error) => defects.push(error),
    jobsMax: JOBS_MAX,
  });
  return { queue, defects, dispose: queue.close };
});
