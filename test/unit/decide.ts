// A host with some of everything, and what is decided on it.
import { createDecider } from '../../src/core/decision/create-decider.ts';
import type { Decision, DecisionRequest } from '../../src/core/decision/decision.ts';
import type { HostPolicy } from '../../src/core/policy/policy.ts';
import {
  BYPASS,
  DESKTOP,
  dimension,
  hostPolicy,
  pattern,
  policySet,
  rule,
} from '../helpers/policies.ts';

export const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1)';
export const PERSON = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0';
const BLOCKED = dimension({
  id: 9,
  name: 'scrapers',
  action: 'block',
  matchUserAgent: [pattern('*badbot*')],
});
const PREVIEW = dimension({ id: 3, name: 'preview' });

export const host = hostPolicy({
  dimensions: [BYPASS, DESKTOP, BLOCKED],
  rules: [
    rule('/admin/*', { action: 'status', status: { code: 403, reason: null, headers: [] } }),
    rule('/raw/*', { action: 'bypass' }),
    rule('/shop/*', { action: 'render' }),
    rule('/feed.xml', { action: 'render' }),
    rule('/cards/*', { action: 'render', dimension: PREVIEW }),
    rule('/post', {
      methods: new Set(['POST']),
      action: 'status',
      status: { code: 405, reason: null, headers: [] },
    }),
  ],
});

export function decide(
  request: Partial<DecisionRequest> & { readonly url: string },
  on: HostPolicy = host,
): Decision {
  const full = { method: 'GET', userAgent: GOOGLEBOT, hasAuthorization: false, ...request };
  return createDecider(policySet(on), (text) => text).decide(full, null);
}
