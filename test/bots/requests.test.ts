// The verdict over the wire: who gets which page, and where the verdict shows. Case G6.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../helpers/gateway.ts';
import { type RawOrigin, startRawOrigin, valuesOf } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { ask as askGateway, page, type Question } from '../scenario/stage.ts';
import { GOOGLEBOT, GPTBOT, MESSAGES } from './bot-parts.ts';
import { type NameServer, ptr, startNameServer } from './name-server.ts';

const FORGER = '203.0.113.9';
const CRAWLER = '203.0.113.66';
const NAME = 'crawl-203-0-113-66.googlebot.com';
const SILENT = '203.0.113.200';

let names: NameServer;
let origin: RawOrigin;
let gateway: TestGateway;

beforeAll(async () => {
  names = await startNameServer({
    [ptr(CRAWLER)]: [NAME],
    [`A ${NAME}`]: [CRAWLER],
    [ptr(SILENT)]: 'silent',
  });
  // A fill comes with the dimension's User-Agent, a request that is passed on with its own.
  origin = await startRawOrigin({
    answer: (request) => {
      const userAgent = valuesOf(request, 'user-agent')[0] ?? '';
      return userAgent.endsWith('edge-gateway')
        ? page('for crawlers')
        : page('for people', 'Cache-Control: public, max-age=600', 'Vary: Cookie');
    },
  });
  const host = (id: number, domain: string, more = '') =>
    `  - {id: ${id}, domain: ${domain}, origin: "${origin.url}"${more}}\n`;
  gateway = await startTestGateway({
    gateway: 'server:\n  trusted_proxies: [127.0.0.1, 10.0.0.0/8]\nrender: {engine: origin}\n',
    hosts: `hosts:\n${host(1, 'site.test')}${host(2, 'block.test', ', bots: {forged: block}')}${host(
      3,
      'off.test',
      ', bots: {verify: "off"}',
    )}${host(4, 'all.test', ', unmatched_dimension: desktop')}`,
    nameServers: [names.address],
  });
});
afterAll(async () => {
  await gateway.close();
  await origin.close();
  names.close();
});

interface Client extends Question {
  /** As the proxy in front says. */
  readonly from?: string;
}

async function ask(target: string, { from, headers = [], ...question }: Client = {}) {
  const forwarded = from === undefined ? [] : [`X-Forwarded-For: ${from}`];
  const userAgent = question.userAgent ?? GOOGLEBOT;
  return await askGateway(gateway.port, target, {
    ...question,
    userAgent,
    headers: [...headers, ...forwarded],
  });
}

/** The last log line of a target. */
async function logged(target: string): Promise<Readonly<Record<string, unknown>>> {
  const find = () => gateway.log.findLast((line) => String(line['url']).endsWith(target));
  await waitUntil(`a log line of ${target}`, () => find() !== undefined);
  return find() ?? {};
}

/** Asks until the look-up behind the first request is done. */
async function learn(from: string, verdict: string): Promise<void> {
  await waitUntil(`${from} is ${verdict}`, async () => {
    await ask(`/learn-${from}`, { from });
    const { bot } = await logged(`/learn-${from}`);
    return (bot as { readonly verdict?: string } | undefined)?.verdict === verdict;
  });
}

describe('G6', () => {
  test('a crawler of Google gets the page, at first and once it is verified', async () => {
    expect((await ask('/first', { from: CRAWLER })).body).toBe('for crawlers');
    expect((await logged('/first'))['bot']).toMatchObject({ verdict: 'unverifiable' });
    await learn(CRAWLER, 'verified');
    const reply = await ask('/second', { from: CRAWLER });
    expect([reply.body, reply.header('x-render-source')]).toEqual(['for crawlers', 'rendered']);
    expect(await logged('/second')).toMatchObject({
      client: CRAWLER,
      dimension: 'desktop',
      bot: { owner: 'google', token: 'Googlebot', kind: 'search', verdict: 'verified', by: 'rdns' },
    });
  });

  test('a forged one gets what people get, and nothing is rendered for it', async () => {
    await learn(FORGER, 'forged');
    const reply = await ask('/forged', { from: FORGER });
    expect([reply.body, reply.header('x-render-source')]).toEqual(['for people', 'bypass']);
    expect(reply.header('x-unmatched-dimension')).toBe('true');
    // Or a cache in front would have it for whoever comes by that name.
    expect(reply.headers('cache-control')).toEqual(['private, no-store']);
    expect(reply.header('vary')).toBe('Cookie, User-Agent');
    expect(await logged('/forged')).toMatchObject({
      reason: 'forged_bot',
      action: 'bypass',
      dimension: 'bypass',
      bot: { owner: 'google', verdict: 'forged', by: 'rdns_mismatch' },
    });
    // Not from the cache either.
    await ask('/cached', { from: CRAWLER });
    expect((await ask('/cached', { from: FORGER })).body).toBe('for people');
  });

  test('what people get may be a rendered page, or nothing', async () => {
    await learn(FORGER, 'forged');
    const everyone = await ask('/', { from: FORGER, host: 'all.test' });
    expect(everyone.body).toBe('for crawlers');
    const refused = await ask('/', { from: FORGER, host: 'block.test' });
    expect(refused.status).toBe(403);
    const believed = await ask('/', { from: FORGER, host: 'off.test' });
    expect(believed.body).toBe('for crawlers');
    expect((await logged('https://off.test/'))['bot']).toMatchObject({ by: 'verify_off' });
  });

  test('addresses that the client wrote itself count for nothing', async () => {
    await learn(FORGER, 'forged');
    const reply = await ask('/spoofed', { from: `${CRAWLER}, 127.0.0.1, ${FORGER}, 10.0.0.1` });
    expect(reply.body).toBe('for people');
    expect((await logged('/spoofed'))['client']).toBe(FORGER);
  });

  test('a resolver that never answers delays no request', async () => {
    const reply = await ask('/silent', { from: SILENT });
    expect(reply.body).toBe('for crawlers');
    expect(reply.durationMs).toBeLessThan(1_500);
    expect((await logged('/silent'))['bot']).toMatchObject({ by: 'lookup_pending' });
  });

  test.each([
    ['from this machine every name is believed', GOOGLEBOT, undefined, 'local_address'],
    ['no list of OpenAI is on this machine', GPTBOT, FORGER, 'no_list'],
    ['the card of a phone is nobody’s to check', MESSAGES, FORGER, 'no_method'],
  ])('%s', async (_what, userAgent, from, by) => {
    const reply = await ask(`/${by}`, { userAgent, ...(from === undefined ? {} : { from }) });
    expect(reply.body).toBe('for crawlers');
    expect((await logged(`/${by}`))['bot']).toMatchObject({ verdict: 'unverifiable', by });
  });

  test('people are asked nothing', async () => {
    const asked = names.questions.length;
    await ask('/person', { from: FORGER, userAgent: 'Mozilla/5.0 Firefox/140.0' });
    expect((await logged('/person'))['bot']).toBeUndefined();
    expect(names.questions).toHaveLength(asked);
  });

  test('signatures of Web Bot Auth pass through', async () => {
    const headers = [
      'Signature-Agent: "https://bot.test"',
      'Signature-Input: sig=("@authority")',
      'Signature: sig=:AAAA:',
    ];
    await ask('/signed', { userAgent: 'Mozilla/5.0 Chrome/142.0', headers });
    const request = origin.requests.find(({ target }) => target === '/signed');
    for (const name of ['signature-agent', 'signature-input', 'signature']) {
      expect(valuesOf(request, name)).toHaveLength(1);
    }
  });
});

test('verdicts are counted, and explained with an address', async () => {
  await learn(FORGER, 'forged');
  const admin = `http://127.0.0.1:${gateway.adminPort}`;
  const metrics = await (await fetch(`${admin}/metrics`)).text();
  expect(metrics).toMatch(
    /crawler_requests_total\{owner="google",kind="search",verdict="forged",by="rdns_mismatch"\} \d/,
  );
  const explain = async (address: string) => {
    const query = new URLSearchParams({
      url: 'https://site.test/x',
      user_agent: GOOGLEBOT,
      address,
    });
    return await (await fetch(`${admin}/explain?${query.toString()}`)).json();
  };
  expect(await explain(FORGER)).toMatchObject({
    action: 'bypass',
    reason: 'forged_bot',
    bot: { verdict: 'forged' },
  });
  expect(await explain(CRAWLER)).toMatchObject({ action: 'render', bot: { verdict: 'verified' } });
  expect(await explain('')).toMatchObject({ action: 'render', bot: { by: 'no_address' } });
});
