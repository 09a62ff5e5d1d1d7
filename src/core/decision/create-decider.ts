// The one decision function. Everything that can be indexed is: what is everybody's when a
// configuration is compiled, what belongs to a host when that is first asked for; from then on a
// request only looks things up.
import type { LearnedTable } from '../learned/learned-rule.ts';
import { makeOnce } from '../make-once.ts';
import type { HostPolicy, PolicySet } from '../policy/policy.ts';
import { dimensionsOf } from '../routing/dimensions-of.ts';
import { type DimensionMatch, indexDimensions } from '../routing/match-dimension.ts';
import type { Trace, TraceStep } from '../url/trace.ts';
import type { UrlErrorKind } from '../url/url-error.ts';
import { findRedirect } from './canonical-redirect.ts';
import type { Decision, DecisionRequest, KeyedDecision, RefusedDecision } from './decision.ts';
import { isSigned } from './is-signed.ts';
import { createLocator, type Located } from './locate-url.ts';
import { type PlanInput, planClient } from './plan-action.ts';

export interface Decider {
  /** @param trace collects the steps for `explain`; null while serving */
  readonly decide: (request: DecisionRequest, trace: Trace | null) => Decision;
  /** @param name host name or address in normal form, without port */
  readonly findHost: (name: string) => HostPolicy | null;
  /** How a client is classified on a host, by its User-Agent. */
  readonly classify: (host: HostPolicy, userAgent: string) => DimensionMatch;
}

const NOTHING_LEARNED: LearnedTable = new Map();
const NO_STEPS: readonly TraceStep[] = [];
const NO_DIMENSION: DimensionMatch = { dimension: 'block', matchedBy: null };

/**
 * Compiles the decision function of one configuration.
 *
 * @param hashText XXHash64, seed 0, as 16 lower-case hex digits
 * @param learned what is learned at this moment; asked once for each URL of a host that learns
 */
export function createDecider(
  policies: PolicySet,
  hashText: (text: string) => string,
  learned: () => LearnedTable = () => NOTHING_LEARNED,
): Decider {
  const { locate, findHost } = createLocator(policies, learned);
  const indexOf = makeOnce((dimensions: HostPolicy['dimensions']) =>
    makeOnce((unmatched: HostPolicy['unmatched']) => indexDimensions({ dimensions, unmatched })),
  );
  const classify = ({ dimensions, unmatched }: HostPolicy, userAgent: string): DimensionMatch =>
    indexOf(dimensions)(unmatched).find(userAgent);

  const matchDimension = (host: HostPolicy, request: DecisionRequest): DimensionMatch => {
    if (request.dimensionId === undefined) return classify(host, request.userAgent);
    const dimension = dimensionsOf(host).find(({ id }) => id === request.dimensionId);
    return dimension === undefined ? NO_DIMENSION : { dimension, matchedBy: null };
  };

  const decide = (request: DecisionRequest, trace: Trace | null): Decision => {
    const located = locate(request.url, request.method, trace);
    if (!located.ok) return refuse(request, located.error, trace);
    const { host, parsed, settled } = located.value;
    const match = host === null ? NO_DIMENSION : matchDimension(host, request);
    const { policy, rule, normalized } = settled;
    const input: PlanInput = {
      host,
      match,
      rule,
      path: normalized.path,
      method: request.method,
      isSigned: isSigned(parsed, policy.normalization),
      hasAuthorization: request.hasAuthorization,
      redirect:
        policy.normalization.canonicalRedirect === 'off'
          ? null
          : findRedirect(located.value, (url) => settleAgain(url, request.method)),
    };
    const client = planClient(input, policy.bots, request);
    // Field by field: a spread would cost more than the whole normalization.
    return {
      action: client.action,
      reason: client.reason,
      status: client.status,
      dimension: client.dimension,
      matchedBy: client.matchedBy,
      bot: client.bot,
      input: request.url,
      error: null,
      host,
      normalized: normalized.url,
      path: normalized.path,
      hash: hashText(normalized.url),
      rule,
      policy,
      stripped: normalized.stripped,
      dropped: normalized.dropped,
      learned: normalized.learned,
      steps: trace ?? NO_STEPS,
    } satisfies KeyedDecision;
  };

  const settleAgain = (url: string, method: string): Located | null => {
    const again = locate(url, method, null);
    return again.ok ? again.value : null;
  };

  return { decide, findHost, classify };
}

function refuse(
  request: DecisionRequest,
  error: UrlErrorKind,
  trace: Trace | null,
): RefusedDecision {
  return {
    input: request.url,
    error,
    normalized: null,
    host: null,
    dimension: null,
    matchedBy: null,
    bot: null,
    action: 'status',
    reason: 'invalid_url',
    status: { code: 400, reason: error, headers: [] },
    steps: trace ?? NO_STEPS,
  };
}
