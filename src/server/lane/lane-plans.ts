// What the lane remembers: which page a request is for, decided once by the pipeline for everybody
// with the same host, target and client, and the head of its answer for as long as it is right.
import { clientAddress } from '../../core/http/client-address.ts';
import { viaMember } from '../../core/http/forwarded.ts';
import { createRecentMap } from '../../core/recent-map.ts';
import { createHotPage, type HotPage, type HotWords } from '../../pipeline/hot-page.ts';
import { planPage } from '../../pipeline/phases.ts';
import type { Keyed } from '../../pipeline/state.ts';
import { checkRequest, type HeadLimits } from '../door/check-request.ts';
import type { Snapshot } from '../gateway/gateway-deps.ts';
import { readVisitor } from '../gateway/receive-request.ts';
import { listFields, type PlainHead } from './read-head.ts';
import { type HeadParts, serializeHead } from './serialize-head.ts';

/** A head and where it came from. */
export interface LaneRequest {
  readonly head: PlainHead;
  /** The other end of the connection. */
  readonly peer: string;
  /** The configuration it was received under. */
  readonly snapshot: Snapshot;
}

export interface Plan {
  readonly keyed: Keyed;
  readonly page: HotPage;
  /** The head of an answer in these words. */
  readonly headOf: (words: HotWords) => HeadParts;
}

export interface LanePlans {
  /** null: not a request for a page that is rendered. */
  readonly find: (request: LaneRequest) => Plan | null;
}

export interface LaneOptions {
  readonly limits: HeadLimits;
  readonly keepAliveTimeoutMs: number;
  /** Our name in `Via`. */
  readonly pseudonym: string;
}

const PLANS_MAX = 2_048;
/** In place of the request's own, in the words that are kept. */
const NO_ID = '-';

export function createLanePlans(options: LaneOptions): LanePlans {
  const plans = createRecentMap<Plan | null>(PLANS_MAX);
  let snapshot: Snapshot | null = null;
  return {
    find: (request) => {
      if (snapshot !== request.snapshot) {
        snapshot = request.snapshot;
        plans.clear();
      }
      const { host, acceptEncoding, userAgent, target } = request.head;
      const name = `${host}\n${acceptEncoding ?? ''}\n${userAgent ?? ''}\n${target}`;
      const known = plans.get(name);
      if (known !== undefined && isJudgedAlike(known, request)) return known;
      const plan = makePlan(request, options);
      plans.set(name, plan);
      return plan;
    },
  };
}

function makePlan(
  { head, peer, snapshot: { site, pipeline, isTrustedPeer } }: LaneRequest,
  { limits, keepAliveTimeoutMs, pseudonym }: LaneOptions,
): Plan | null {
  const wire = { method: 'GET', httpVersion: '1.1', rawHeaders: listFields(head) };
  const target = checkRequest({ ...wire, target: head.target, isHttp2: false }, limits);
  // The door says why.
  if (!target.ok) return null;
  const from = { ...wire, peer, isEncrypted: false };
  const { client } = readVisitor(from, target.value, isTrustedPeer);
  const request = { ...client, requestId: NO_ID };
  const keyed = planPage({ request, site, onInformation: () => undefined });
  if (keyed === null) return null;
  const via = ['Via', viaMember('1.1', pseudonym)] as const;
  let last: { readonly words: HotWords; readonly head: HeadParts } | null = null;
  return {
    keyed,
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

/** Whether a crawler that the plan was made for is still taken for what it was then. */
function isJudgedAlike(plan: Plan | null, request: LaneRequest): boolean {
  const bot = plan?.keyed.decision.bot ?? null;
  if (plan === null || bot === null) return true;
  const { verify } = plan.keyed.decision.policy.bots;
  const userAgent = request.head.userAgent ?? '';
  const judged = request.snapshot.site.judgeBot(userAgent, addressOf(request), verify);
  return judged?.verdict === bot.verdict && judged.by === bot.by;
}

/** The client's address, behind the trusted proxies. */
export function addressOf({ head, peer, snapshot }: LaneRequest): string {
  const forwardedFor = head.forwardedFor === null ? [] : [head.forwardedFor];
  return clientAddress(peer, forwardedFor, snapshot.isTrustedPeer);
}
