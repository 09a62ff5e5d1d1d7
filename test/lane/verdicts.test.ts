// Whose crawler an address is may change from one request to the next: the lane asks anew each
// time, and nobody's verdict takes the lane away from another.
import { expect, onTestFinished, test } from 'vitest';
import { GOOGLEBOT } from '../bots/bot-parts.ts';
import { ptr, startNameServer } from '../bots/name-server.ts';
import { startTestGateway } from '../helpers/gateway.ts';
import { startRawOrigin, valuesOf } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { page } from '../scenario/stage.ts';
import { type Client, countParsed, openClient, plainGet, slowly } from './lane-client.ts';

const FORGER = '203.0.113.9';
const CRAWLER = '203.0.113.66';
const NAME = 'crawl-203-0-113-66.googlebot.com';

const from = (address: string, host: string): string =>
  plainGet('/page', [`X-Forwarded-For: ${address}`], host).replace(
    /User-Agent: .*/,
    `User-Agent: ${GOOGLEBOT}`,
  );

test.each([
  ['bypass', 'site.test', 'for people'],
  ['block', 'block.test', ''],
])('forged: %s', async (_policy, host, whatForgersGet) => {
  const { client, port } = await open();
  const [crawler, forger] = [from(CRAWLER, host), from(FORGER, host)];
  const isVerified = async (): Promise<boolean> => /edge-gateway; hit/.test(await ask(crawler));
  const isForged = async (): Promise<boolean> => !(await ask(forger)).endsWith('for crawlers');
  const ask = (request: string): Promise<string> => client.ask(slowly(request));
  await waitUntil('the one is verified', isVerified);
  await waitUntil('the other is found out', isForged);
  await ask(crawler);
  const parsed = countParsed(port);
  for (let round = 0; round < 3; round += 1) {
    expect(await client.ask(forger)).not.toContain('for crawlers');
    expect((await client.ask(forger)).endsWith(whatForgersGet)).toBe(true);
    const before = parsed();
    for (let i = 0; i < 2; i += 1) {
      expect(await client.ask(crawler)).toMatch(/\r\nX-Render-Cache: hit\r\n.*for crawlers$/s);
    }
    expect(parsed()).toBe(before);
  }
});

async function open(): Promise<{ readonly client: Client; readonly port: number }> {
  const names = await startNameServer({
    [ptr(CRAWLER)]: [NAME],
    [`A ${NAME}`]: [CRAWLER],
  });
  onTestFinished(() => names.close());
  const origin = await startRawOrigin({
    answer: (request) => {
      const userAgent = valuesOf(request, 'user-agent')[0] ?? '';
      return page(userAgent.endsWith('edge-gateway') ? 'for crawlers' : 'for people');
    },
  });
  onTestFinished(origin.close);
  const where = `origin: "${origin.url}"`;
  const gateway = await startTestGateway({
    gateway: 'server:\n  trusted_proxies: [127.0.0.1]\nrender: {engine: origin}\n',
    hosts: `hosts:\n  - {id: 1, domain: site.test, ${where}}\n  - {id: 2, domain: block.test, ${where}, bots: {forged: block}}\n`,
    nameServers: [names.address],
  });
  onTestFinished(gateway.close);
  return { client: await openClient(gateway.port), port: gateway.port };
}
