// An orderly stop: not ready, no new connections, open requests and running fetches end, then
// everything is released. A deadline bounds it, because an event stream never ends by itself.
import type { Log } from '../adapters/telemetry/create-log.ts';

export interface StopDeps {
  readonly log: Log;
  /** Ends the serving of pages. */
  readonly stopServing: () => Promise<void>;
  readonly drainFlights: () => Promise<void>;
  readonly release: () => Promise<void>;
}

export interface Stopper {
  /** Idempotent: a second call waits for the first. */
  readonly stop: () => Promise<void>;
  readonly stopped: Promise<void>;
  readonly isDraining: () => boolean;
}

/** Open requests get this long to end. */
export const STOP_DEADLINE_MS = 20_000;
/** Silent connections, when there is no one else to take them over: a round trip, not more. */
export const STOP_IDLE_GRACE_MS = 500;

export function createStopper(deps: StopDeps): Stopper {
  let running: Promise<void> | null = null;
  let begin = (_run: Promise<void>): void => undefined;
  const stopped = new Promise<void>((resolve) => {
    begin = resolve;
  });

  async function run(): Promise<void> {
    deps.log.info('stopping');
    await deps.stopServing();
    await deps.drainFlights();
    await deps.release();
    deps.log.info('stopped');
  }

  return {
    stop: async () => {
      if (running === null) {
        running = run();
        begin(running);
      }
      await running;
    },
    stopped,
    isDraining: () => running !== null,
  };
}
