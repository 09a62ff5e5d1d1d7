// User-Agent × address → verdict. What is looked up is looked up behind the request's back.
import { describe, expect, test } from 'vitest';
import type { NameCheck, NameChecker } from '../../src/pipeline/ports.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { GOOGLEBOT, GPTBOT, MESSAGES, makeJudge, makeNames, type Networks } from './bot-parts.ts';
import { ptr } from './name-server.ts';

const BINGBOT = 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)';
const BING_PREVIEW = 'Mozilla/5.0 (Windows NT 6.1) BingPreview/1.0b';
const OPENAI: Networks = {
  'openai-gptbot': ['192.0.2.0/28', '2001:db8:1::/48'],
  'openai-searchbot': ['192.0.2.16/28'],
  'openai-chatgpt-user': ['192.0.2.32/28'],
  'openai-adsbot': ['192.0.2.48/28'],
};
const LISTS: Networks = { ...OPENAI, 'microsoft-bingbot': ['198.51.100.0/24'] };
const NEVER: NameChecker = {
  check: async () => await new Promise(() => undefined),
  close: () => undefined,
};

describe('at once', () => {
  test.each([
    ['inside its list', GPTBOT, '192.0.2.1', 'verified: list'],
    ['in an IPv4 coat', GPTBOT, '::ffff:192.0.2.1', 'verified: list'],
    ['by IPv6', GPTBOT, '2001:db8:1::7', 'verified: list'],
    ['inside another list of its owner', GPTBOT, '192.0.2.17', 'verified: list'],
    ['outside of all lists', GPTBOT, '203.0.113.9', 'forged: not_listed'],
    ['by IPv6 outside', GPTBOT, '2001:db8:2::7', 'forged: not_listed'],
    ['another name of the owner', BING_PREVIEW, '198.51.100.7', 'verified: list'],
    [
      'not listed, and a name to be looked up',
      BINGBOT,
      '203.0.113.9',
      'unverifiable: lookup_pending',
    ],
    ['a name to be looked up', GOOGLEBOT, '203.0.113.9', 'unverifiable: lookup_pending'],
    ['no list on this machine', 'ClaudeBot/1.0', '203.0.113.9', 'unverifiable: no_list'],
    ['nothing published', 'Twitterbot/1.0', '203.0.113.9', 'unverifiable: no_method'],
    ['a card fetched by a phone', MESSAGES, '203.0.113.9', 'unverifiable: no_method'],
    ['our own machine', GOOGLEBOT, '127.0.0.1', 'unverifiable: local_address'],
    ['our own machine by IPv6', GPTBOT, '::1', 'unverifiable: local_address'],
    ['our own network', GPTBOT, '10.1.2.3', 'unverifiable: local_address'],
    ['our own network by IPv6', GPTBOT, 'fd12:3456::1', 'unverifiable: local_address'],
    ['a link-local address', GPTBOT, 'fe80::1', 'unverifiable: local_address'],
    ['a mapped private address', GPTBOT, '::ffff:10.0.0.1', 'unverifiable: local_address'],
    ['no address', GPTBOT, null, 'unverifiable: no_address'],
    ['what is no address', GPTBOT, 'unknown', 'unverifiable: no_address'],
    ['nobody known', 'Mozilla/5.0 Firefox/140.0', '203.0.113.9', null],
  ])('%s', (_what, userAgent, address, expected) => {
    const { judge } = makeJudge(NEVER, LISTS);
    const bot = judge.judge(userAgent, address, true);
    expect(bot && `${bot.verdict}: ${bot.by}`).toBe(expected);
  });

  test('who it is, where nothing is to be checked', () => {
    const { judge } = makeJudge(NEVER, LISTS);
    expect(judge.judge(GPTBOT, '203.0.113.9', false)).toEqual({
      owner: 'openai',
      token: 'GPTBot',
      kind: 'ai_train',
      verdict: 'unverifiable',
      by: 'verify_off',
    });
  });

  test('the card of a phone is a preview', () => {
    const { judge } = makeJudge(NEVER);
    expect(judge.judge(MESSAGES, '203.0.113.9', true)).toMatchObject({ kind: 'preview' });
  });

  test('one missing list of several refutes nobody', () => {
    const { 'openai-adsbot': _missing, ...others } = OPENAI;
    const { judge } = makeJudge(NEVER, others);
    expect(judge.judge(GPTBOT, '192.0.2.1', true)?.by).toBe('list');
    expect(judge.judge(GPTBOT, '203.0.113.9', true)?.by).toBe('no_list');
  });

  test('an old list still verifies, and refutes nobody', () => {
    const { judge, clock } = makeJudge(NEVER, OPENAI);
    clock.advance(31 * 24 * 3_600_000);
    expect(judge.judge(GPTBOT, '192.0.2.1', true)?.by).toBe('list');
    expect(judge.judge(GPTBOT, '203.0.113.9', true)?.by).toBe('no_list');
  });
});

describe('by name', () => {
  const ADDRESS = '203.0.113.9';
  const NAME = 'crawl-203-0-113-9.googlebot.com';

  test('the first request goes on, the next one knows', async () => {
    const { names, server } = await makeNames({ [ptr(ADDRESS)]: [NAME], [`A ${NAME}`]: [ADDRESS] });
    const { judge } = makeJudge(names);
    expect(judge.judge(GOOGLEBOT, ADDRESS, true)?.by).toBe('lookup_pending');
    await waitUntil('a verdict', () => judge.judge(GOOGLEBOT, ADDRESS, true)?.by === 'rdns');
    expect(server.questions).toEqual([ptr(ADDRESS), `A ${NAME}`]);
    // Another name of the same owner at the same address asks nobody.
    expect(judge.judge('Googlebot-Image/1.0', ADDRESS, true)?.verdict).toBe('verified');
    expect(server.questions).toHaveLength(2);
  });

  test('a forged one stays forged while it is looked up again', async () => {
    const { names, server } = await makeNames({});
    const { judge, clock } = makeJudge(names);
    judge.judge(GOOGLEBOT, ADDRESS, true);
    await waitUntil('a verdict', () => judge.judge(GOOGLEBOT, ADDRESS, true)?.verdict === 'forged');
    const asked = server.questions.length;
    clock.advance(599_000);
    expect(judge.judge(GOOGLEBOT, ADDRESS, true)?.by).toBe('rdns_mismatch');
    expect(server.questions).toHaveLength(asked);
    clock.advance(2_000);
    expect(judge.judge(GOOGLEBOT, ADDRESS, true)?.by).toBe('rdns_mismatch');
    await waitUntil('a second question', () => server.questions.length > asked);
  });

  test('explanations wait for the look-up', async () => {
    const { names } = await makeNames({ [ptr(ADDRESS)]: [NAME], [`A ${NAME}`]: [ADDRESS] });
    const { judge } = makeJudge(names);
    const lookUp = await judge.judgeAhead(GOOGLEBOT, ADDRESS);
    expect(lookUp(GOOGLEBOT, true)?.verdict).toBe('verified');
    expect(lookUp(GOOGLEBOT, false)?.by).toBe('verify_off');
    expect((await judge.judgeAhead(GOOGLEBOT, null))(GOOGLEBOT, true)?.by).toBe('no_address');
    expect((await judge.judgeAhead('curl/8', ADDRESS))('curl/8', true)).toBeNull();
  });
});

describe('how long, how many', () => {
  /** A checker that answers in turn, and counts. */
  function scripted(...answers: readonly NameCheck[]) {
    const asked: string[] = [];
    const names: NameChecker = {
      check: async (address) => {
        asked.push(address);
        return answers[Math.min(asked.length, answers.length) - 1] ?? 'failed';
      },
      close: () => undefined,
    };
    return { asked, names };
  }
  const settle = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve));

  test('a good verdict holds a day, and longer while nobody answers', async () => {
    const { asked, names } = scripted('confirmed', 'failed', 'refuted');
    const { judge, clock } = makeJudge(names);
    const ask = () => judge.judge(GOOGLEBOT, '203.0.113.9', true)?.verdict;
    ask();
    await settle();
    clock.advance(24 * 3_600_000 - 1);
    expect([ask(), asked.length]).toEqual(['verified', 1]);
    clock.advance(1);
    expect([ask(), asked.length]).toEqual(['verified', 2]);
    await settle();
    expect([ask(), asked.length]).toEqual(['verified', 2]);
    clock.advance(24 * 3_600_000);
    ask();
    await settle();
    expect(ask()).toBe('forged');
  });

  test('an address is looked up once at a time, and twenty at most', async () => {
    const asked: string[] = [];
    const names: NameChecker = {
      check: (address) => {
        asked.push(address);
        return new Promise(() => undefined);
      },
      close: () => undefined,
    };
    const { judge } = makeJudge(names);
    for (let round = 0; round < 3; round += 1) {
      for (let host = 1; host <= 100; host += 1) judge.judge(GOOGLEBOT, `203.0.113.${host}`, true);
    }
    expect(asked).toHaveLength(20);
    expect(new Set(asked).size).toBe(20);
  });

  test('a resolver that never answers delays nothing', () => {
    const { judge } = makeJudge(NEVER);
    const startedAt = performance.now();
    for (let host = 0; host < 10_000; host += 1) {
      judge.judge(GOOGLEBOT, `203.0.${host >> 8}.${host & 255}`, true);
    }
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test('verdicts are bounded: the oldest address is forgotten', async () => {
    const { asked, names } = scripted('confirmed');
    const { judge } = makeJudge(names);
    const at = (index: number): string => `2001:db8::${index.toString(16)}`;
    for (let index = 1; index <= 20_100; index += 1) {
      judge.judge(GOOGLEBOT, at(index), true);
      if (index % 20 === 0) await settle();
    }
    expect(asked).toHaveLength(20_100);
    expect(judge.judge(GOOGLEBOT, at(20_100), true)?.verdict).toBe('verified');
    expect(judge.judge(GOOGLEBOT, at(1), true)?.by).toBe('lookup_pending');
  });

  test('a checker that throws is a defect, and told', async () => {
    const names: NameChecker = {
      check: async () => await Promise.reject(new Error('broken')),
      close: () => undefined,
    };
    const { judge, defects } = makeJudge(names);
    judge.judge(GOOGLEBOT, '203.0.113.9', true);
    await waitUntil('the defect', () => defects.length === 1);
    expect(judge.judge(GOOGLEBOT, '203.0.113.9', true)?.by).toBe('lookup_pending');
  });
});
