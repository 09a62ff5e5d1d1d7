// Rolling restart, on SIGUSR2 and by the admin API: one at a time, and whoever asks while one is
// under way gets the result of that one.
import type { Log } from '../adapters/telemetry/create-log.ts';
import { adminError } from '../server/admin/admin-error.ts';
import type { AdminResult } from '../server/admin/create-admin-app.ts';
import type { RestartResult } from './serving.ts';

export function createRestarter(
  restart: () => Promise<RestartResult>,
  log: Log,
  isStopping: () => boolean,
): () => Promise<RestartResult> {
  let running: Promise<RestartResult> | null = null;

  async function run(): Promise<RestartResult> {
    const result = await restart();
    if (result.isDone) log.info('restarted', { workers: result.replaced });
    else log[isStopping() ? 'info' : 'error']('not restarted', { reason: result.reason });
    return result;
  }

  return async () => {
    running ??= run().finally(() => {
      running = null;
    });
    return await running;
  };
}

export function describeRestart(result: RestartResult): AdminResult {
  if (result.isDone) return { status: 200, body: { restarted: true, workers: result.replaced } };
  return { status: 409, body: { restarted: false, ...adminError('not_restarted', result.reason) } };
}
