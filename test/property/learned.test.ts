// What origins say about their parameters, as laws over random rules, policies and URLs: a learned
// key is a key like any other, and a purge means everything that is or was stored for the URL.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDecider } from '../../src/core/decision/create-decider.ts';
import type { KeyedDecision } from '../../src/core/decision/decision.ts';
import { formatNoVarySearch } from '../../src/core/http/no-vary-search.ts';
import {
  addressOf,
  type LearnedRule,
  type LearnedTable,
  learnedName,
} from '../../src/core/learned/learned-rule.ts';
import { compileSamePage } from '../../src/core/learned/same-page.ts';
import type { EffectivePolicy, HostPolicy } from '../../src/core/policy/policy.ts';
import { policySet } from '../helpers/policies.ts';
import { anyHost, dirtyUrl } from './any-host.ts';

const names = fc.subarray(['a', 'b', 'A', 'ref', 'x', 'é', '', 'a b', '%', '\ufffd']);
const anyVariance = fc.record({
  ignoresOrder: fc.boolean(),
  mode: fc.constantFrom('drop', 'keep'),
  names: names.map((list) => new Set(list)),
});

const ask = (host: HostPolicy, url: string, table: LearnedTable): KeyedDecision | null => {
  const decider = createDecider(
    policySet(host),
    (text) => text,
    () => table,
  );
  const request = { url, method: 'GET', userAgent: 'Googlebot', hasAuthorization: false };
  const decision = decider.decide(request, null);
  return decision.error === null ? decision : null;
};

function withLearning(host: HostPolicy): HostPolicy {
  const learning = (policy: EffectivePolicy): EffectivePolicy => ({
    ...policy,
    normalization: { ...policy.normalization, noVarySearch: 'learn' },
  });
  const rules = host.rules.map((rule) => ({ ...rule, policy: learning(rule.policy) }));
  return { ...host, policy: learning(host.policy), rules };
}

/** A host that learns, a URL of it, and what was learned by the answer to that URL. */
const lesson = fc
  .tuple(anyHost.map(withLearning), dirtyUrl, anyVariance)
  .map(([host, url, variance]) => {
    const before = ask(host, url, new Map());
    const address = addressOf(before?.normalized ?? '');
    const header = formatNoVarySearch(variance);
    const rule: LearnedRule = { hostId: 1, address, header, variance, from: url, at: 0 };
    return { host, url, before, table: new Map([[learnedName(1, address), rule]]) };
  });

test('a learned key is idempotent', () => {
  fc.assert(
    fc.property(lesson, ({ host, url, table }) => {
      const once = ask(host, url, table);
      if (once === null) return;
      expect(ask(host, once.normalized, table)?.normalized).toBe(once.normalized);
    }),
    { numRuns: 4_000 },
  );
}, 60_000);

test('a host that does not learn has the keys it had', () => {
  fc.assert(
    fc.property(anyHost, lesson, (host, { url, table }) => {
      const isLearning = [host, ...host.rules].some(
        ({ policy }) => policy.normalization.noVarySearch === 'learn',
      );
      if (isLearning) return;
      expect(ask(host, url, table)?.normalized).toBe(ask(host, url, new Map())?.normalized);
    }),
    { numRuns: 1_000 },
  );
});

test('a purge means the page under its learned key and under the one it had before', () => {
  fc.assert(
    fc.property(lesson, ({ host, url, before, table }) => {
      const now = ask(host, url, table);
      if (now === null || before === null) return;
      const isMeant = compileSamePage(now.normalized, now.learned?.header ?? null);
      expect(isMeant(now.normalized)).toBe(true);
      // Where a rule of the configuration sends the shorter query elsewhere, it is another page.
      if (host.rules.length > 0) return;
      expect([before.normalized, isMeant(before.normalized)]).toEqual([before.normalized, true]);
    }),
    { numRuns: 4_000 },
  );
}, 60_000);
