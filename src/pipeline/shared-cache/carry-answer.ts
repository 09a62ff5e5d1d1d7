// An origin's answer on its way: to the one who asked, and a copy to the store where it may be
// kept. How long a body in chunks is shows when its head has gone; that it was too large is
// remembered, so that the next one is passed on without a copy and says so.

import { firstHeader } from '../../core/http/header-list.ts';
import { CUT_BEHIND_HEAD } from '../../core/http/origin-failure.ts';
import type { AnswerJudgement } from '../../core/http/shared-cache/judge-answer.ts';
import { hasCredentials } from '../../core/http/shared-cache/judge-request.ts';
import { LIMITS } from '../../core/limits.ts';
import { type PipelineDeps, pageIdentity } from '../deps.ts';
import { backOff, rememberTooLarge } from '../fetch/failure-memory.ts';
import type { RunningFill } from '../fetch/running-fills.ts';
import type { OriginAnswer } from '../origin-ports.ts';
import type { BodyFlaw, Keyed } from '../state.ts';
import { within } from '../within.ts';
import { chooseVariant } from './choose-variant.ts';
import { type Arrival, type Errand, ended, type OpenExchange } from './errand.ts';
import { type ExchangeEnd, type FailedExchange, unshared } from './exchange-end.ts';
import { keepExchange } from './keep-exchange.ts';
import { passBody, streamOf } from './origin-body.ts';
import { STORE_PATIENCE_MS } from './running-saves.ts';

export interface Carried {
  readonly answer: OriginAnswer;
  readonly originUrl: string;
  readonly judgement: AnswerJudgement;
  readonly running: RunningFill;
}

type Unshared = Extract<Arrival, { readonly kind: 'answer' }>['unshared'];

export async function carryAnswer(
  errand: Errand,
  carried: Carried,
  deps: PipelineDeps,
): Promise<OpenExchange> {
  const { keyed, previous, mayStore } = errand;
  const { answer, originUrl, judgement, running } = carried;
  const { status, reason, headers, trailers } = answer;
  const isOfKnownLength = lengthOf(answer) !== null;
  const told = { kind: 'answer', originUrl, isOfKnownLength } as const;
  const reasonAgainst = findUnshared(keyed, carried, deps);
  if (reasonAgainst !== null || !judgement.store) {
    // What the origin no longer lets us keep must not be served in its place later.
    if (previous !== null && status < 500) {
      await deps.pages.withdraw(previous.key, previous.ref, keyed.decision.normalized);
    }
    const passed = { status, reason, headers, body: passBody(answer) };
    return ended({ ...told, answer: passed, unshared: reasonAgainst, isForOne: true }, unshared());
  }
  const bytesMax = keyed.site.pageBytesMax;
  const idleMs = LIMITS.originBodyIdleTimeoutMs;
  const { stream, whole, release } = deps.collectBody(streamOf(answer.body), { bytesMax, idleMs });
  let unfit: BodyFlaw | null = null;
  const finish = async (): Promise<ExchangeEnd> => {
    const body = await whole;
    if (body === 'cut') return giveUp(keyed, carried, deps);
    if (!Buffer.isBuffer(body)) {
      unfit = body;
      if (body === 'too_large' && !running.isPurged()) noteTooLarge(keyed, deps);
      return unshared();
    }
    const { kept } = judgement;
    const selecting = chooseVariant(kept.vary, keyed);
    const shared = { status, kept, selecting, body, since: running.since };
    return { kind: 'shared', shared, isStored: false };
  };
  const keep = async (end: ExchangeEnd): Promise<ExchangeEnd> => {
    if (end.kind !== 'shared' || !mayStore) return end;
    const keeping = (): Promise<boolean> => keepExchange(keyed, end.shared, running, deps);
    // Whoever gets no turn leaves the store as it is: the others store as good an answer.
    const save = deps.storing.take(keyed.key, keeping);
    const isStored = (await deps.saves.note(pageIdentity(keyed), save)) === true;
    return { ...end, isStored };
  };
  const isForOne = judgement.kept.staleAt <= judgement.kept.cachedAt;
  const flaw = (): BodyFlaw | null => (stream.errored === null ? unfit : 'cut');
  const passed = { status, reason, headers, body: { stream, trailers, flaw } };
  const finished = finish();
  const kept = finished.then(keep).finally(release);
  return {
    arrival: { ...told, answer: passed, unshared: null, isForOne },
    end: isForOne ? Promise.resolve(unshared()) : firstKept(finished, kept),
    kept,
  };
}

/** A store that is slow keeps nobody waiting for what is here. */
async function firstKept(
  finished: Promise<ExchangeEnd>,
  kept: Promise<ExchangeEnd>,
): Promise<ExchangeEnd> {
  const end = await finished;
  return (await within(STORE_PATIENCE_MS, kept)) ?? end;
}

function findUnshared(keyed: Keyed, { answer, judgement }: Carried, deps: PipelineDeps): Unshared {
  if (!judgement.store) return judgement.reason;
  if (!answer.isDelimited) return 'unframed';
  const bytes = lengthOf(answer);
  // By memory alone it is not noted again: when that is over, it is tried.
  if (bytes === null) return isKnownAsTooLarge(keyed, deps) ? 'too_large' : null;
  if (bytes <= keyed.site.pageBytesMax) return null;
  noteTooLarge(keyed, deps);
  return 'too_large';
}

/** null: it shows in the end. */
function lengthOf({ headers, body }: OriginAnswer): number | null {
  if (Buffer.isBuffer(body)) return body.length;
  const length = firstHeader(headers, 'content-length');
  return length === null ? null : Number(length);
}

function isKnownAsTooLarge(keyed: Keyed, deps: PipelineDeps): boolean {
  return deps.knownUnshared.get(pageIdentity(keyed)) === 'too_large';
}

/** Who has credentials learns nothing about what the others get. */
function noteTooLarge(keyed: Keyed, deps: PipelineDeps): void {
  if (!hasCredentials(keyed.request.headers)) rememberTooLarge(keyed, deps);
}

/** Nobody of those who wait has to find out again; who comes next tries anew. */
function giveUp(keyed: Keyed, { running, originUrl }: Carried, deps: PipelineDeps): FailedExchange {
  const cause = { reason: CUT_BEHIND_HEAD.error, detail: CUT_BEHIND_HEAD.detail };
  if (!running.isPurged()) backOff(keyed, { outcome: 'failed', ...cause }, deps);
  return { kind: 'failed', ...cause, originUrl };
}
