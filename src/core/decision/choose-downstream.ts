// What caches in front are told of an answer that is passed on. What a person gets is passed on
// untouched, unless `downstream_cache: vary` has said that those caches tell User-Agents apart;
// what a crawler gets in place of its page must not be kept for the next one.
import type { Downstream } from '../http/tell-downstream.ts';
import type { Dimension, HostPolicy } from '../policy/policy.ts';
import type { Decision, DecisionReason } from './decision.ts';
import { isPage } from './plan-action.ts';

/** Whoever asks with another User-Agent, or a moment later, may get something else. */
const BY_CLIENT: ReadonlySet<DecisionReason> = new Set([
  'authorization',
  'canonical_redirect',
  'dimension',
  'forged_bot',
  'unmatched_dimension',
]);

/** @param isFallback a page was wanted and could not be had */
export function chooseDownstream(decision: Decision, isFallback: boolean): Downstream {
  if (isFallback) return 'unkept';
  // A host that renders nothing.
  if (decision.error !== null || decision.host === null) return 'as_sent';
  const { action, reason, rule, path, host, dimension, policy } = decision;
  // All clients of the rule get the same.
  if (rule?.action === 'bypass') return 'as_sent';
  // It was no page when that was last seen.
  if (action === 'render') return 'html_unkept';
  if (!BY_CLIENT.has(reason) || !isPage(path, rule)) return 'as_sent';
  // It has a crawler's name, and gets what a person gets.
  if (reason === 'forged_bot' || dimension?.action === 'render') return 'html_unkept';
  return policy.downstreamCache === 'vary' && hasOtherAnswers(host) ? 'html_varies' : 'as_sent';
}

/** Whether any client of the host gets something else than what is passed on. */
function hasOtherAnswers({ unmatched, dimensions, rules }: HostPolicy): boolean {
  const isOther = (one: Dimension | 'block' | null): boolean =>
    one === 'block' || (one !== null && one.action !== 'bypass');
  return isOther(unmatched) || dimensions.some(isOther) || rules.some((r) => isOther(r.dimension));
}
