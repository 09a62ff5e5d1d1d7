// Passes GETs on by pools of their own, for answers that may be kept. Redirects are never
// followed; a second try only on another origin that was never reached, or on a dead keep-alive
// socket. Bodies have no deadline here: what streams for hours is not ours to judge.
import type { Dispatcher, Pool } from 'undici';
import { LIMITS } from '../../../core/limits.ts';
import type { OriginFetcher, PassJob, PassResult } from '../../../pipeline/origin-ports.ts';
import type { OriginBalancer } from '../balance-origins.ts';
import { classifyFailure } from '../fill/classify-failure.ts';
import { createOriginPool, diedUnheard, watchAttempt } from '../fill/origin-client.ts';
import { buildPassRequest } from './build-pass-request.ts';
import { readHead, toPairs } from './read-head.ts';

export interface OriginFetcherOptions {
  /** The one that bypass uses too: an origin that is down is down for both. */
  readonly balancer: OriginBalancer;
  /** Our name in `Via`. */
  readonly pseudonym: string;
}

const POOL_SETTINGS = {
  connections: 512,
  connectTimeoutMs: 5_000,
  bodyIdleTimeoutMs: 0,
  keepAliveTimeoutMs: 4_000,
  headerBytesMax: LIMITS.headerBytesMax,
} as const;
/** Requests to one origin under way or queued; the rest fail at once instead of waiting in vain. */
const PER_ORIGIN_MAX = 10_000;

/** Creates the fetcher; its pools open no connection before they are needed. */
export function createOriginFetcher({ balancer, pseudonym }: OriginFetcherOptions): OriginFetcher {
  const pools = new Map<string, Pool>();

  const poolOf = (originUrl: string): Pool => {
    const known = pools.get(originUrl) ?? createOriginPool(originUrl, POOL_SETTINGS);
    pools.set(originUrl, known);
    return known;
  };

  const passInTurn = async (job: PassJob): Promise<Attempted> => {
    const turn = balancer.take(job.host.origins);
    let health: 'ok' | 'failed' | 'busy' = 'busy';
    try {
      const pool = poolOf(turn.originUrl);
      const order = { pool, originUrl: turn.originUrl, pseudonym };
      const first = await attempt(job, order);
      const last = first.isDeadSocket ? await attempt(job, order) : first;
      health = healthIn(last.result);
      return last;
    } finally {
      turn.end(health);
    }
  };

  return {
    pass: async (job) => {
      const first = await passInTurn(job);
      const isDown = healthIn(first.result) === 'failed';
      if (!isDown || job.host.origins.length === 1) return first.result;
      return (await passInTurn(job)).result;
    },
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}

interface Order {
  readonly pool: Pool;
  readonly originUrl: string;
  readonly pseudonym: string;
}

interface Attempted {
  readonly result: PassResult;
  readonly isDeadSocket: boolean;
}

async function attempt(job: PassJob, order: Order): Promise<Attempted> {
  const { pool, originUrl, pseudonym } = order;
  if (pool.stats.size >= PER_ORIGIN_MAX) {
    return { result: failed('origin_timeout', 'queue_full'), isDeadSocket: false };
  }
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), job.timeoutMs);
  const request = {
    ...buildPassRequest(job, originUrl, pseudonym),
    signal: deadline.signal,
    onInfo: ({ statusCode, headers }: { statusCode: number; headers: unknown }) =>
      job.onInformation({ statusCode, headers: toPairs(headers) }),
  };
  const watched = watchAttempt(request);
  let response: Dispatcher.ResponseData | null = null;
  try {
    response = await pool.request(request);
    const answer = readHead(response, job, originUrl);
    return { result: { outcome: 'answer', answer }, isDeadSocket: false };
  } catch (error) {
    response?.body.on('error', () => undefined).destroy();
    const isLate = deadline.signal.aborted;
    const { reason, detail } = classifyFailure(error, watched.begun, isLate);
    return { result: failed(reason, detail), isDeadSocket: !isLate && diedUnheard(watched) };
  } finally {
    clearTimeout(timer);
  }
}

/** A slow answer is no sign of a dead origin, nor of a live one. */
function healthIn(result: PassResult): 'ok' | 'failed' | 'busy' {
  if (result.outcome === 'answer') return 'ok';
  if (result.reason === 'origin_unreachable') return 'failed';
  return result.reason === 'origin_timeout' ? 'busy' : 'ok';
}

function failed(
  reason: Extract<PassResult, { outcome: 'failed' }>['reason'],
  detail: string,
): PassResult {
  return { outcome: 'failed', reason, detail };
}
