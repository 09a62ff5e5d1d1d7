// The page source `origin`: the origin's own HTML is the page. One GET by a pool of our own,
// redirects never followed, one deadline over everything, nothing of any client in it. A second
// try only on another origin that was never reached, or on a dead keep-alive socket (R34).
import type { Pool } from 'undici';
import { createUpstreamPicker, type UpstreamPicker } from '../../../core/http/pick-upstream.ts';
import { LIMITS } from '../../../core/limits.ts';
import type { Origin } from '../../../core/policy/policy.ts';
import type { Clock, PageJob, PageResult, PageSource } from '../../../pipeline/ports.ts';
import { buildFillRequest, splitTarget } from './build-fill-request.ts';
import { classifyFailure } from './classify-failure.ts';
import { createOriginPool, diedUnheard, watchAttempt } from './origin-client.ts';
import { readPage } from './read-page.ts';

export interface OriginSourceOptions {
  readonly clock: Clock;
  /** Our name in `Via`, unique to this gateway: a loop is known by it. */
  readonly pseudonym: string;
  readonly pageBytesMax: number;
}

const POOL_SETTINGS = {
  connections: 64,
  connectTimeoutMs: 5_000,
  bodyIdleTimeoutMs: LIMITS.bodyIdleTimeoutMs,
  keepAliveTimeoutMs: 4_000,
  headerBytesMax: LIMITS.headerBytesMax,
} as const;
/** Fills of one origin under way or queued; the rest fail at once instead of waiting in vain. */
const FILLS_PER_ORIGIN_MAX = 1_024;
/** Origins of one host asked for one page. */
const ORIGINS_TRIED_MAX = 2;

/** Creates the source; its pools open no connection before they are needed. */
export function createOriginSource(options: OriginSourceOptions): PageSource {
  const pools = new Map<string, Pool>();
  // Keyed by the policy's own array: a reload brings a new one, and the old goes with its policy.
  const pickers = new WeakMap<readonly Origin[], UpstreamPicker<Origin>>();
  let isClosed = false;

  const poolOf = (origin: string): Pool => {
    const known = pools.get(origin);
    if (known !== undefined) return known;
    const pool = createOriginPool(origin, POOL_SETTINGS);
    pools.set(origin, pool);
    return pool;
  };

  const pickerOf = (origins: readonly Origin[]): UpstreamPicker<Origin> => {
    const known = pickers.get(origins);
    if (known !== undefined) return known;
    const picker = createUpstreamPicker(origins);
    pickers.set(origins, picker);
    return picker;
  };

  return {
    name: 'origin',
    get: async (job, signal) => {
      if (isClosed) return failed('origin_unreachable', 'closed');
      const { origins } = job.host;
      const picker = pickerOf(origins);
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(job.render.timeoutMs)]);
      const candidates = picker.candidates(options.clock.now(), 'all');
      let result = failed('origin_unreachable', 'no_origin');
      for (const origin of candidates.slice(0, ORIGINS_TRIED_MAX)) {
        picker.begin(origin);
        result = await fill(poolOf(origin.url), { job, origin: origin.url, deadline, options });
        const isDown = result.outcome === 'failed' && result.reason === 'origin_unreachable';
        picker.end(origin, isDown ? 'failed' : 'ok', options.clock.now());
        if (!isDown || deadline.aborted) break;
      }
      return result;
    },
    check: () => {
      const state = isClosed
        ? ({ state: 'unavailable', reason: 'closed' } as const)
        : ({ state: 'done', value: undefined } as const);
      return Promise.resolve(state);
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}

interface Fill {
  readonly job: PageJob;
  readonly origin: string;
  readonly deadline: AbortSignal;
  readonly options: OriginSourceOptions;
}

/** One page from one origin. */
async function fill(pool: Pool, order: Fill): Promise<PageResult> {
  if (pool.stats.size >= FILLS_PER_ORIGIN_MAX) return failed('origin_timeout', 'queue_full');
  const first = await attemptFill(pool, order);
  if (!first.isDeadSocket || order.deadline.aborted) return first.result;
  return (await attemptFill(pool, order)).result;
}

async function attemptFill(
  pool: Pool,
  { job, origin, deadline, options }: Fill,
): Promise<{ readonly result: PageResult; readonly isDeadSocket: boolean }> {
  const request = {
    ...buildFillRequest(job, origin, `1.1 ${options.pseudonym}`),
    signal: deadline,
  };
  const attempt = watchAttempt(request);
  const { publicOrigin } = splitTarget(job.url);
  const inner = [origin];
  if (job.host.originHostHeader !== null) {
    inner.push(`http://${job.host.originHostHeader}`, `https://${job.host.originHostHeader}`);
  }
  const ended = rejectOnAbort(deadline);
  try {
    // undici sees the signal only once a request has left its queue; the race sees it at once.
    const answer = await Promise.race([pool.request(request), ended.promise]);
    try {
      const { pageBytesMax } = options;
      const page = await readPage(answer, { pageBytesMax, innerOrigins: inner, publicOrigin });
      return { result: { outcome: 'page', page }, isDeadSocket: false };
    } finally {
      // Read to its end it has nothing to destroy; refused, it must not hold its connection.
      answer.body.on('error', () => undefined).destroy();
    }
  } catch (error) {
    const { reason, detail } = classifyFailure(error, attempt.begun, deadline.aborted);
    return { result: failed(reason, detail), isDeadSocket: diedUnheard(attempt) };
  } finally {
    ended.forget();
  }
}

interface AbortWatch {
  readonly promise: Promise<never>;
  readonly forget: () => void;
}

function rejectOnAbort(signal: AbortSignal): AbortWatch {
  let forget = (): void => undefined;
  const promise = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort);
    forget = () => signal.removeEventListener('abort', onAbort);
  });
  return { promise, forget: () => forget() };
}

function failed(
  reason: Extract<PageResult, { outcome: 'failed' }>['reason'],
  detail: string,
): PageResult {
  return { outcome: 'failed', reason, detail };
}
