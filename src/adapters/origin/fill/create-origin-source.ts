// The page source `origin`: the origin's own HTML is the page. One GET by a pool of our own,
// redirects never followed, one deadline over everything, nothing of any client in it. A second
// try only on another origin that was never reached, or on a dead keep-alive socket.
import type { Pool } from 'undici';
import { healthInFailure } from '../../../core/http/origin-failure.ts';
import type { OriginHealth } from '../../../core/http/pick-upstream.ts';
import { LIMITS } from '../../../core/limits.ts';
import type { PageJob, PageResult, PageSource } from '../../../pipeline/ports.ts';
import type { OriginBalancer } from '../balance-origins.ts';
import { buildFillRequest, splitTarget } from './build-fill-request.ts';
import { classifyFailure } from './classify-failure.ts';
import { createOriginPool, diedUnheard, watchAttempt } from './origin-client.ts';
import { readPage } from './read-page.ts';

export interface OriginSourceOptions {
  /** The one that bypass uses too: an origin that is down is down for both. */
  readonly balancer: OriginBalancer;
  /** Our name in `Via`, unique to this gateway: a loop is known by it. */
  readonly pseudonym: string;
  readonly pageBytesMax: number;
}

const POOL_SETTINGS = {
  connections: 64,
  connectTimeoutMs: 5_000,
  bodyIdleTimeoutMs: LIMITS.originBodyIdleTimeoutMs,
  keepAliveTimeoutMs: 4_000,
  headerBytesMax: LIMITS.originHeadBytesMax,
} as const;
/** Fills of one origin under way or queued; the rest fail at once instead of waiting in vain. */
const FILLS_PER_ORIGIN_MAX = 1_024;

/** Creates the source; its pools open no connection before they are needed. */
export function createOriginSource(options: OriginSourceOptions): PageSource {
  const pools = new Map<string, Pool>();
  let isClosed = false;

  const poolOf = (origin: string): Pool => {
    const known = pools.get(origin);
    if (known !== undefined) return known;
    const pool = createOriginPool(origin, POOL_SETTINGS);
    pools.set(origin, pool);
    return pool;
  };

  const fillInTurn = async (job: PageJob, deadline: AbortSignal): Promise<Turn> => {
    const turn = options.balancer.take(job.host.origins);
    let health: OriginHealth = 'busy';
    try {
      const pool = poolOf(turn.originUrl);
      const result = await fill(pool, { job, origin: turn.originUrl, deadline, options });
      health = healthIn(result);
      return { result, isDown: health === 'failed' };
    } finally {
      turn.end(health);
    }
  };

  return {
    name: 'origin',
    get: async (job, signal) => {
      if (isClosed) return failed('destination_unavailable', 'closed');
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(job.render.timeoutMs)]);
      const first = await fillInTurn(job, deadline);
      if (!first.isDown || deadline.aborted || job.host.origins.length === 1) return first.result;
      return (await fillInTurn(job, deadline)).result;
    },
    check: () => {
      const state = isClosed
        ? ({ state: 'unavailable', reason: 'closed' } as const)
        : ({ state: 'done', value: undefined } as const);
      return Promise.resolve(state);
    },
    renderers: () => Promise.resolve([]),
    close: async () => {
      isClosed = true;
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}

function healthIn(result: PageResult): OriginHealth {
  return result.outcome === 'page' ? 'ok' : healthInFailure(result.reason);
}

interface Turn {
  readonly result: PageResult;
  /** It was not reached, so another origin may be asked for the same page. */
  readonly isDown: boolean;
}

interface Fill {
  readonly job: PageJob;
  readonly origin: string;
  readonly deadline: AbortSignal;
  readonly options: OriginSourceOptions;
}

/** One page from one origin. */
async function fill(pool: Pool, order: Fill): Promise<PageResult> {
  if (pool.stats.size >= FILLS_PER_ORIGIN_MAX) return failed('http_response_timeout', 'queue_full');
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
