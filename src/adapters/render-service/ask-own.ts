// The render service that the gateway runs itself: who wants a page while it starts, or in the
// moment of its crash, waits for it and asks again, instead of going without.
import { setTimeout as wait } from 'node:timers/promises';
import type { Done, PageJob } from '../../pipeline/ports.ts';
import type { ServiceReply } from './service.ts';

export interface OwnService {
  /** Resolves when it is ready, or nobody knows when it will be; `unavailable` after the time. */
  readonly untilReady: (timeoutMs: number) => Promise<Done<void>>;
  /** How many may wait for it: more than it can take would wait for nothing. */
  readonly waitersMax: number;
}

export type AskOnce = (job: PageJob) => Promise<ServiceReply>;

export interface AskOrder {
  readonly job: PageJob;
  readonly ask: AskOnce;
  /** Ends all waiting. */
  readonly signal: AbortSignal;
}

/** Nobody listens. */
const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED']);
/** It was there, and ended before it could answer. */
const LOST: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
/** The page may be what ends it. */
const LOSSES_MAX = 2;
/** Its end is seen here a moment sooner than by the one who watches it. */
const PAUSE_MS = 150;
const ASKED_MAX = 6;

/** @returns how a job is asked for */
export function createOwnAsker({
  untilReady,
  waitersMax,
}: OwnService): (order: AskOrder) => Promise<ServiceReply> {
  let waiting = 0;

  /** `done`: it can be asked again; null: too many wait already. */
  const waitInTurn = async (timeoutMs: number): Promise<Done<void> | null> => {
    if (waiting >= waitersMax) return null;
    waiting += 1;
    try {
      const askedAt = performance.now();
      const state = await untilReady(timeoutMs);
      if (state.state === 'unavailable') return state;
      if (performance.now() - askedAt < PAUSE_MS) await wait(PAUSE_MS);
      return state;
    } finally {
      waiting -= 1;
    }
  };

  return async ({ job, ask, signal }) => {
    const deadlineAt = performance.now() + job.render.timeoutMs;
    let losses = 0;
    for (let asked = 1; ; asked += 1) {
      const leftMs = Math.max(0, deadlineAt - performance.now());
      // What was waited for is not the service's to spend.
      const reply = await ask(asked === 1 ? job : withTimeout(job, leftMs));
      if (reply.kind !== 'unusable') return reply;
      if (LOST.has(reply.detail)) losses += 1;
      else if (!ABSENT.has(reply.detail)) return reply;
      if (losses >= LOSSES_MAX || asked >= ASKED_MAX) return reply;
      const state = await waitInTurn(leftMs);
      if (state === null) return { kind: 'full' };
      // Who watches it knows why it is not there; the socket only that it isn't.
      if (state.state === 'unavailable') return { kind: 'unusable', detail: state.reason };
      if (signal.aborted) return reply;
    }
  };
}

function withTimeout(job: PageJob, timeoutMs: number): PageJob {
  return { ...job, render: { ...job.render, timeoutMs: Math.ceil(timeoutMs) } };
}
