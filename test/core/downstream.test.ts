// Which word caches in front are given of an answer, by what is decided about its request; `explain`
// tells the same.
import { describe, expect, test } from 'vitest';
import type { BotJudgement } from '../../src/core/bots/crawlers.ts';
import { chooseDownstream } from '../../src/core/decision/choose-downstream.ts';
import { createDecider } from '../../src/core/decision/create-decider.ts';
import type { Decision, DecisionRequest } from '../../src/core/decision/decision.ts';
import {
  type Explanation,
  explainDecision,
  UNKNOWN_CACHED,
} from '../../src/core/decision/explain-decision.ts';
import type { DownstreamCache } from '../../src/core/policy/policy.ts';
import { DESKTOP, effectivePolicy, hostPolicy, policySet, rule } from '../helpers/policies.ts';

const GOOGLEBOT = 'Googlebot/2.1';
const FORGED: BotJudgement = {
  owner: 'google',
  token: 'Googlebot',
  kind: 'search',
  verdict: 'forged',
  by: 'rdns_mismatch',
};

interface Asked extends Partial<Omit<DecisionRequest, 'url'>> {
  readonly path: string;
}

function decide(downstreamCache: DownstreamCache, { path, ...asked }: Asked): Decision {
  const policy = { ...effectivePolicy(), downstreamCache };
  const host = hostPolicy({
    policy,
    rules: [
      rule('/raw/*', { action: 'bypass', policy }),
      rule('/files/*.xml', { action: 'render', policy }),
      rule('/cards/*', { action: 'render', dimension: DESKTOP, policy }),
      rule('/gone', { action: 'status', status: { code: 410, reason: null, headers: [] }, policy }),
    ],
  });
  const question = { method: 'GET', userAgent: 'Mozilla/5.0', hasAuthorization: false, ...asked };
  const url = `https://example.com${path}`;
  return createDecider(policySet(host), () => '0123456789abcdef').decide(
    { url, ...question },
    null,
  );
}

type Told = Explanation['downstream'];

const ROWS: readonly (readonly [what: string, Asked, inVary: Told, elsewhere: Told])[] = [
  ['a person', { path: '/a' }, 'html_varies', 'as_sent'],
  ['HEAD', { path: '/a', method: 'HEAD' }, 'html_varies', 'as_sent'],
  ['POST', { path: '/a', method: 'POST' }, 'as_sent', 'as_sent'],
  ['a person with credentials', { path: '/a', hasAuthorization: true }, 'html_varies', 'as_sent'],
  ['a file', { path: '/a.css' }, 'as_sent', 'as_sent'],
  ['a file that a rule makes a page', { path: '/files/a.xml' }, 'html_varies', 'as_sent'],
  ['a bypass rule', { path: '/raw/a' }, 'as_sent', 'as_sent'],
  ['a signed URL', { path: '/a?X-Amz-Signature=b' }, 'as_sent', 'as_sent'],
  ['a rule that renders for all', { path: '/cards/a' }, 'vary', 'private'],
  ['a status rule', { path: '/gone' }, null, null],
  ['a crawler', { path: '/a', userAgent: GOOGLEBOT }, 'vary', 'private'],
  ['a crawler’s file', { path: '/a.css', userAgent: GOOGLEBOT }, 'as_sent', 'as_sent'],
  ['a crawler’s bypass rule', { path: '/raw/a', userAgent: GOOGLEBOT }, 'as_sent', 'as_sent'],
  [
    'a crawler with credentials',
    { path: '/a', userAgent: GOOGLEBOT, hasAuthorization: true },
    'html_unkept',
    'html_unkept',
  ],
  [
    'a forged crawler',
    { path: '/a', userAgent: GOOGLEBOT, judgeBot: () => FORGED },
    'html_unkept',
    'html_unkept',
  ],
];

describe('explain tells', () => {
  test.each(ROWS)('%s', (_what, asked, inVary, elsewhere) => {
    const told = (mode: DownstreamCache): Told =>
      explainDecision(decide(mode, asked), UNKNOWN_CACHED).downstream;
    expect([told('vary'), told('private')]).toEqual([inVary, elsewhere]);
    expect(told('origin')).toBe(elsewhere === 'private' ? 'origin' : elsewhere);
  });
});

test('what is passed on in place of a page', () => {
  const page = decide('origin', { path: '/a', userAgent: GOOGLEBOT });
  expect(chooseDownstream(page, true)).toBe('unkept');
  // Known to be a file, or to lead back to itself.
  expect(chooseDownstream(page, false)).toBe('html_unkept');
});
