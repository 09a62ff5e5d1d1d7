// Rolling restart, on SIGUSR2 and by the admin API. A round reads the configuration first, so that
// what was just saved counts. One at a time: whoever asks while one is under way gets the one that
// follows it, for workers that are new already may have started with what has changed since.
import type { Log } from '../adapters/telemetry/create-log.ts';
import { adminError } from '../server/admin/admin-error.ts';
import type { AdminResult } from '../server/admin/create-admin-app.ts';
import type { Reloader } from './reload.ts';
import type { RestartResult, Serving } from './serving.ts';

/** What asks for a restart, in the words of the log. */
export type RestartAsker = 'SIGUSR2' | 'POST /restart';

export interface RestartDeps {
  readonly reloader: Pick<Reloader, 'reloadForRestart'>;
  readonly restart: Serving['restart'];
  readonly log: Log;
  readonly isStopping: () => boolean;
}

export interface RestartReport {
  readonly result: RestartResult;
  /** Errors and warnings of the configuration. */
  readonly diagnostics: readonly string[];
}

const ALONE = 'there is one process, and nobody could serve meanwhile: see server.workers';
const NOT_APPLIED = 'the configuration was not applied: the old one and its workers go on serving';
const STOPPING = 'the gateway stops';

export function createRestarter({
  reloader,
  restart,
  log,
  isStopping,
}: RestartDeps): (askedBy: RestartAsker) => Promise<RestartReport> {
  let last: Promise<unknown> = Promise.resolve();
  /** Asked for and not begun. */
  let due: Promise<RestartReport> | null = null;

  async function replaceWorkers(askedBy: RestartAsker): Promise<RestartReport> {
    if (restart === null) return failWith(ALONE);
    if (isStopping()) return failWith(STOPPING);
    log.info('restarting', { asked_by: askedBy });
    const { isApplied, messages } = await reloader.reloadForRestart();
    if (!isApplied) return failWith(NOT_APPLIED, messages);
    return { result: await restart(), diagnostics: messages };
  }

  async function run(askedBy: RestartAsker): Promise<RestartReport> {
    const report = await replaceWorkers(askedBy);
    const { result } = report;
    if (result.isDone) log.info('restarted', { workers: result.replaced });
    else log[isStopping() ? 'info' : 'error']('not restarted', { reason: result.reason });
    return report;
  }

  function enqueue(askedBy: RestartAsker): Promise<RestartReport> {
    const round = last.then(() => {
      due = null;
      return run(askedBy);
    });
    // Whoever asked for it gets its error; the next round comes all the same.
    last = round.catch(() => undefined);
    return round;
  }

  return async (askedBy) => {
    log.info('restart asked for', { asked_by: askedBy });
    due ??= enqueue(askedBy);
    return await due;
  };
}

function failWith(reason: string, diagnostics: readonly string[] = []): RestartReport {
  return { result: { isDone: false, reason }, diagnostics };
}

export function describeRestart({ result, diagnostics }: RestartReport): AdminResult {
  if (result.isDone) return { status: 200, body: { restarted: true, workers: result.replaced } };
  const error = adminError('not_restarted', result.reason);
  return { status: 409, body: { restarted: false, diagnostics, ...error } };
}
