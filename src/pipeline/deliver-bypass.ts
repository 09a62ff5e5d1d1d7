// Deliver: pass the request on to the origin as it came, raw and uncached.
import { chooseDownstream } from '../core/decision/choose-downstream.ts';
import type { Decision } from '../core/decision/decision.ts';
import type { ForwardReason } from '../core/http/cache-status.ts';
import type { HostPolicy } from '../core/policy/policy.ts';
import { describe } from './describe-answer.ts';
import type { BypassDelivery, PassedHead, Received, RequestRecord } from './state.ts';

export interface PassOn {
  readonly host: HostPolicy;
  readonly decision: Decision;
  readonly reason?: RequestRecord['reason'];
  /** `miss`: a page was wanted and could not be had. */
  readonly cache?: 'bypass' | 'miss';
  readonly detail?: string;
  /** Why it was not answered from the cache; absent: by `cache`. */
  readonly forward?: ForwardReason;
  readonly onAnswer?: (head: PassedHead) => Promise<void>;
}

export function passOn(received: Received, plan: PassOn): BypassDelivery {
  const { host, decision } = plan;
  const policy = decision.error === null ? decision.policy : host.policy;
  const reason = plan.reason ?? decision.reason;
  const cache = plan.cache ?? 'bypass';
  const { record, headers } = describe(received, decision, {
    source: 'bypass',
    cache,
    forward: plan.forward ?? (cache === 'miss' ? 'uri-miss' : 'bypass'),
    reason,
    action: 'bypass',
    detail: plan.detail ?? reason,
  });
  return {
    kind: 'bypass',
    host,
    timeoutMs: policy.bypass.timeoutMs,
    userAgent: policy.bypass.userAgent,
    downstream: chooseDownstream(decision, cache === 'miss'),
    headers,
    record: { ...record, host },
    ...(plan.onAnswer && { onAnswer: plan.onAnswer }),
  };
}
