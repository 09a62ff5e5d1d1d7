// What happens to a request, spec: request-flow, "Precedence": block dimension → status rule →
// rule's render/bypass → the dimension's action. What must stay raw comes before any rendering, and
// a file (style sheet, feed, sitemap, robots.txt) is no page whatever a general rule says.

import type { BotJudgement } from '../bots/crawlers.ts';
import { isPagePath } from '../http/content-kind.ts';
import type { BotPolicy, Dimension, HostPolicy, Rule, StatusAnswer } from '../policy/policy.ts';
import type { DimensionMatch } from '../routing/match-dimension.ts';
import type { DecisionReason, DecisionRequest, Plan } from './decision.ts';

export interface PlanInput {
  readonly host: HostPolicy | null;
  readonly match: DimensionMatch;
  readonly rule: Rule | null;
  /** Normalized path. */
  readonly path: string;
  readonly method: string;
  readonly isSigned: boolean;
  readonly hasAuthorization: boolean;
  /** Answer that sends the client to the canonical URL, or null. */
  readonly redirect: StatusAnswer | null;
}

interface PlannedClient extends Plan {
  readonly dimension: Dimension | null;
}

export interface JudgedClient extends PlannedClient {
  readonly matchedBy: string | null;
  readonly bot: BotJudgement | null;
}

const UNKNOWN_HOST: StatusAnswer = { code: 421, reason: 'unknown host', headers: [] };
const BLOCKED: StatusAnswer = { code: 403, reason: null, headers: [] };

function planAction(input: PlanInput): PlannedClient {
  const { host, match, rule } = input;
  if (host === null) return answer('unknown_host', UNKNOWN_HOST, null);
  if (match.dimension === 'block') return answer('block_dimension', BLOCKED, null);
  const dimension = match.dimension;
  if (dimension.action === 'block') return answer('block_dimension', BLOCKED, dimension);
  if (rule?.status) return answer('status_rule', rule.status, dimension);
  if (input.method !== 'GET' && input.method !== 'HEAD') return bypass('method', dimension);
  if (input.isSigned) return bypass('signed_url', dimension);
  if (input.redirect !== null) return answer('canonical_redirect', input.redirect, dimension);
  if (input.hasAuthorization) return bypass('authorization', dimension);
  if (rule?.action === 'bypass') return bypass('rule', dimension);
  return planPage(input, dimension);
}

/** What is left: whether it is a page, and whether it is rendered for this client. */
function planPage({ match, rule, path }: PlanInput, dimension: Dimension): PlannedClient {
  if (rule?.dimension) {
    return isPage(path, rule) ? render('rule', rule.dimension) : bypass('not_a_page', dimension);
  }
  if (dimension.action !== 'render') {
    return bypass(match.matchedBy === null ? 'unmatched_dimension' : 'dimension', dimension);
  }
  if (!isPage(path, rule)) return bypass('not_a_page', dimension);
  if (rule?.action === 'render') return render('rule', dimension);
  return render(match.matchedBy === null ? 'unmatched_dimension' : 'dimension', dimension);
}

/** Plans, and asks who the client is where a page would be rendered for it. */
export function planClient(
  input: PlanInput,
  { verify, forged }: BotPolicy,
  { judgeBot, userAgent }: DecisionRequest,
): JudgedClient {
  const { action, reason, status, dimension } = planAction(input);
  const bot = action === 'render' ? (judgeBot?.(userAgent, verify) ?? null) : null;
  return bot?.verdict === 'forged'
    ? { ...planForged(input, forged), matchedBy: null, bot }
    : { action, reason, status, dimension, matchedBy: input.match.matchedBy, bot };
}

/** A forged crawler gets what a person gets. */
function planForged(input: PlanInput, forged: BotPolicy['forged']): PlannedClient {
  // A rule that renders for everyone renders for people too.
  if (input.host === null || input.rule?.dimension) return planAction(input);
  if (forged === 'block') return answer('forged_bot', BLOCKED, null);
  const person: DimensionMatch = { dimension: input.host.unmatched, matchedBy: null };
  return { ...planAction({ ...input, match: person }), reason: 'forged_bot' };
}

/** @param path normalized */
export function isPage(path: string, rule: Rule | null): boolean {
  return isPagePath(path) || (rule !== null && namesFile(rule));
}

/** `/docs/*.xml` means its files; `/docs/*` does not. */
function namesFile({ action, pattern }: Rule): boolean {
  return action === 'render' && !isPagePath(pattern.source.replace(/\$$/, ''));
}

function answer(
  reason: DecisionReason,
  status: StatusAnswer,
  dimension: Dimension | null,
): PlannedClient {
  return { action: 'status', reason, status, dimension };
}

function bypass(reason: DecisionReason, dimension: Dimension): PlannedClient {
  return { action: 'bypass', reason, status: null, dimension };
}

function render(reason: DecisionReason, dimension: Dimension): PlannedClient {
  return { action: 'render', reason, status: null, dimension };
}
