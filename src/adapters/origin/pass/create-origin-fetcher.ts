// Passes GETs on by pools of their own, for answers that may be kept. Redirects are never
// followed; a second try only on another origin that was never reached, or on a dead keep-alive
// socket. Bodies have no deadline here: what streams for hours is not ours to judge.
import type { Pool } from 'undici';
import { healthInFailure } from '../../../core/http/origin-failure.ts';
import type { OriginHealth } from '../../../core/http/pick-upstream.ts';
import { LIMITS } from '../../../core/limits.ts';
import type { OriginFetcher, PassJob, PassResult } from '../../../pipeline/origin-ports.ts';
import type { OriginBalancer } from '../balance-origins.ts';
import { classifyFailure } from '../fill/classify-failure.ts';
import { createOriginPool, diedUnheard, watchAttempt } from '../fill/origin-client.ts';
import { serverName } from '../server-name.ts';
import { buildPassRequest } from './build-pass-request.ts';
import { readHead } from './read-head.ts';
import { type ReceivedAnswer, receiveAnswer, TooSlow } from './receive-answer.ts';

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
  headerBytesMax: LIMITS.originHeadBytesMax,
} as const;
/** Requests to one origin under way or queued; the rest fail at once instead of waiting in vain. */
const PER_ORIGIN_MAX = 10_000;

/** What is kept of one origin. */
interface PassPool {
  readonly originUrl: string;
  readonly pool: Pool;
  readonly serverName: ReturnType<typeof serverName>;
  /** Requests under way or queued. */
  count: number;
}

/** Creates the fetcher; its pools open no connection before they are needed. */
export function createOriginFetcher({ balancer, pseudonym }: OriginFetcherOptions): OriginFetcher {
  const pools = new Map<string, PassPool>();

  const poolOf = (originUrl: string): PassPool => {
    const known = pools.get(originUrl);
    if (known !== undefined) return known;
    const pool = createOriginPool(originUrl, POOL_SETTINGS);
    const made = { originUrl, pool, serverName: serverName(originUrl), count: 0 };
    pools.set(originUrl, made);
    return made;
  };

  const passInTurn = async (job: PassJob): Promise<Attempted> => {
    const turn = balancer.take(job.host.origins);
    let health: OriginHealth = 'busy';
    try {
      const to = poolOf(turn.originUrl);
      const first = await attempt(job, to, pseudonym);
      const last = first.isDeadSocket ? await attempt(job, to, pseudonym) : first;
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
      await Promise.all([...pools.values()].map(({ pool }) => pool.destroy()));
      pools.clear();
    },
  };
}

interface Attempted {
  readonly result: PassResult;
  readonly isDeadSocket: boolean;
}

async function attempt(job: PassJob, to: PassPool, pseudonym: string): Promise<Attempted> {
  const { originUrl } = to;
  if (to.count >= PER_ORIGIN_MAX) {
    const full = { reason: 'http_response_timeout', detail: 'queue_full' } as const;
    return { result: { outcome: 'failed', originUrl, ...full }, isDeadSocket: false };
  }
  const request = buildPassRequest(job, pseudonym, to.serverName);
  const watched = watchAttempt(request);
  let received: ReceivedAnswer | null = null;
  to.count += 1;
  const onDone = (): void => {
    to.count -= 1;
  };
  try {
    const { timeoutMs, onInformation } = job;
    received = await receiveAnswer(to.pool, request, { timeoutMs, onInformation, onDone });
    const answer = readHead(received, job, originUrl);
    return { result: { outcome: 'answer', originUrl, answer }, isDeadSocket: false };
  } catch (error) {
    received?.abort();
    const isLate = error instanceof TooSlow;
    const failure = classifyFailure(error, watched.begun, isLate);
    return {
      result: { outcome: 'failed', originUrl, ...failure },
      isDeadSocket: !isLate && diedUnheard(watched),
    };
  }
}

function healthIn(result: PassResult): OriginHealth {
  return result.outcome === 'answer' ? 'ok' : healthInFailure(result.reason);
}
