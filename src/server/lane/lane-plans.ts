// What the lane remembers: which page a request is for, decided once by the pipeline for everybody
// with the same host, target and client, and the head of its answer for as long as it is right.

import type { KeyedDecision } from '../../core/decision/decision.ts';
import { viaMember } from '../../core/http/forwarded.ts';
import { createRecentMap } from '../../core/recent-map.ts';
import { createHotPage, type HotPage, type HotWords } from '../../pipeline/hot-page.ts';
import { foresee } from '../../pipeline/phases.ts';
import type { HeaderList } from '../../pipeline/ports.ts';
import type { BypassDelivery } from '../../pipeline/state.ts';
import { checkRequest, type HeadLimits } from '../door/check-request.ts';
import type { Snapshot } from '../gateway/gateway-deps.ts';
import { chooseRequestId, readVisitor } from '../gateway/receive-request.ts';
import type { PlainHead } from './read-head.ts';
import { type HeadParts, ID_FIELD, OPEN_ID, serializeHead } from './serialize-head.ts';

/** A head and where it came from. */
export interface LaneRequest {
  readonly head: PlainHead;
  /** The other end of the connection. */
  readonly peer: string;
  /** The client's own, behind the trusted proxies. */
  readonly address: string;
  /** The configuration it was received under. */
  readonly snapshot: Snapshot;
  /** By the monotonic clock. */
  readonly startedAtMs: number;
}

/** Whose address was last judged as it was when the plan was made. */
interface Judged {
  address: string;
  /** By the monotonic clock. */
  untilMs: number;
}

/** A page that may be answered from memory. */
export interface PagePlan {
  readonly kind: 'page';
  readonly decision: KeyedDecision;
  readonly judged: Judged;
  readonly page: HotPage;
  /** The head of an answer in these words. */
  readonly headOf: (words: HotWords) => HeadParts;
}

/** A request that is passed on as it came. */
export interface PassPlan {
  readonly kind: 'pass';
  readonly decision: KeyedDecision;
  readonly judged: Judged;
  readonly delivery: BypassDelivery;
  /** What is added to the answer. */
  readonly headersFor: (requestId: string) => HeaderList;
}

export type Plan = PagePlan | PassPlan;

export interface LanePlans {
  /** null: the phases have to be walked. */
  readonly find: (request: LaneRequest) => Plan | null;
}

export interface LaneOptions {
  readonly limits: HeadLimits;
  readonly keepAliveTimeoutMs: number;
  /** Our name in `Via`. */
  readonly pseudonym: string;
}

const PLANS_MAX = 2_048;
/** Many requests of one address come in a row. */
const JUDGED_MS = 200;
/** What is longer comes once, or to fill the memory. */
const NAME_CHARS_MAX = 1_024;

export function createLanePlans(options: LaneOptions): LanePlans {
  const plans = createRecentMap<Plan | null>(PLANS_MAX);
  let snapshot: Snapshot | null = null;
  return {
    find: (request) => {
      if (snapshot !== request.snapshot) {
        snapshot = request.snapshot;
        plans.clear();
      }
      const { name } = request.head;
      const known = plans.get(name);
      if (known !== undefined && isJudgedAlike(known, request)) return known;
      const plan = makePlan(request, options);
      if (name.length > NAME_CHARS_MAX) return plan;
      // What one crawler is denied may be another's of the same name: that is asked anew each time.
      if (plan !== null || !isCrawler(request)) plans.set(name, plan);
      return plan;
    },
  };
}

function makePlan(
  { head, peer, snapshot: { site, pipeline, isTrustedPeer } }: LaneRequest,
  { limits, keepAliveTimeoutMs, pseudonym }: LaneOptions,
): Plan | null {
  const wire = { method: 'GET', httpVersion: '1.1', rawHeaders: head.fields };
  const target = checkRequest({ ...wire, target: head.target, isHttp2: false }, limits);
  // The door says why.
  if (!target.ok) return null;
  const from = { ...wire, peer, isEncrypted: false };
  const { client } = readVisitor(from, target.value, isTrustedPeer);
  const request = { ...client, requestId: OPEN_ID };
  const foreseen = foresee({ request, site, onInformation: () => undefined });
  if (foreseen === null) return null;
  if (foreseen.kind === 'pass') return planPass(foreseen.planned.decision, foreseen.delivery);
  const { keyed } = foreseen;
  const via = ['Via', viaMember('1.1', pseudonym)] as const;
  let last: { readonly words: HotWords; readonly head: HeadParts } | null = null;
  return {
    kind: 'page',
    decision: keyed.decision,
    judged: judgeLater(),
    page: createHotPage(keyed, pipeline),
    headOf: (words) => {
      if (last === null || last.words !== words) {
        const { status, headers } = words.delivery.answer;
        last = { words, head: serializeHead(status, [...headers, via], keepAliveTimeoutMs) };
      }
      return last.head;
    },
  };
}

function planPass(decision: KeyedDecision, delivery: BypassDelivery): PassPlan {
  const { headers } = delivery;
  const idAt = headers.findIndex(([name]) => name === ID_FIELD);
  return {
    kind: 'pass',
    decision,
    judged: judgeLater(),
    delivery,
    headersFor: (requestId) =>
      idAt === -1 ? headers : headers.with(idAt, [ID_FIELD, requestId] as const),
  };
}

function isCrawler({ head, snapshot }: LaneRequest): boolean {
  return snapshot.site.judgeBot(head.userAgent ?? '', null, false) !== null;
}

function judgeLater(): Judged {
  return { address: '', untilMs: Number.NEGATIVE_INFINITY };
}

/** Whether a crawler that the plan was made for is still taken for what it was then. */
function isJudgedAlike(plan: Plan | null, request: LaneRequest): boolean {
  const bot = plan?.decision.bot ?? null;
  if (plan === null || bot === null) return true;
  const { judged } = plan;
  const { address, startedAtMs } = request;
  if (judged.address === address && startedAtMs < judged.untilMs) return true;
  const { verify } = plan.decision.policy.bots;
  const verdict = request.snapshot.site.judgeBot(request.head.userAgent ?? '', address, verify);
  if (verdict?.verdict !== bot.verdict || verdict.by !== bot.by) return false;
  // Its name is being looked up: what comes of that counts at once.
  if (verdict.by === 'lookup_pending') return true;
  judged.address = address;
  judged.untilMs = startedAtMs + JUDGED_MS;
  return true;
}

/** Its own, where a trusted proxy has given it one. */
export function requestIdOf({ head: { requestId }, peer, snapshot }: LaneRequest): string {
  const isTrusted = requestId !== null && snapshot.isTrustedPeer(peer);
  return chooseRequestId(requestId ?? undefined, isTrusted);
}
