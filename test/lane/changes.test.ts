// What changes a page or the rules counts for the lane at once: purges and renewals by this process
// and by another, reloads, and the end of the server.
import { expect, test } from 'vitest';
import { postPurge } from '../helpers/post-purge.ts';
import { hasAnswers, splitAnswers } from '../helpers/raw-client.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { hostsText, page, setStage, startOrigin } from '../scenario/stage.ts';
import { startTwoProcesses } from '../scenario/two-processes.ts';
import { countParsed, openClient, plainGet, warm } from './lane-client.ts';

const PAGE = plainGet('/page');
const UNVERIFIED = 'bots: {verify: "off"}\n';

const bodyOf = (text: string | undefined): string => text?.split('\r\n\r\n')[1] ?? '';

async function purge(adminPort: number, more: object = {}): Promise<void> {
  const order = { url: 'https://site.test/page', ...more };
  expect(await postPurge(adminPort, order)).toMatchObject({ status: 200 });
}

test('a purge by this process', async () => {
  let version = 1;
  const stage = await setStage({ host: UNVERIFIED, origin: () => page(`v${version}`) });
  const client = await openClient(stage.gateway.port);
  const parsed = countParsed(stage.gateway.port);
  for (; version < 10; version += 1) {
    expect(bodyOf(await client.ask(PAGE))).toBe(`v${version}`);
    await warm(client, PAGE);
    const before = parsed();
    expect(bodyOf(await client.ask(PAGE))).toBe(`v${version}`);
    expect(parsed()).toBe(before);
    await purge(stage.gateway.adminPort);
  }
});

test('a soft purge: stale, until it is renewed', async () => {
  let version = 1;
  const stage = await setStage({ host: UNVERIFIED, origin: () => page(`v${version}`) });
  const client = await openClient(stage.gateway.port);
  await warm(client, PAGE);
  expect(await client.ask(PAGE)).toContain('X-Render-Cache: hit');
  version += 1;
  await purge(stage.gateway.adminPort, { soft: true });
  expect(await client.ask(PAGE)).toContain('X-Render-Cache: stale');
  await waitUntil('the new one', async () => bodyOf(await client.ask(PAGE)) === 'v2');
});

test('purges and pages of another process', { timeout: 60_000 }, async () => {
  let version = 1;
  const origin = await startOrigin(() => page(`v${version}`));
  const { here, there } = await startTwoProcesses(origin.url, { host: UNVERIFIED });
  const [client, other] = [await openClient(here.port), await openClient(there.port)];
  const parsed = countParsed(here.port);
  while (version < 12) {
    await warm(client, PAGE);
    const before = parsed();
    expect(bodyOf(await client.ask(PAGE))).toBe(`v${version}`);
    expect(parsed()).toBe(before);
    version += 1;
    await purge(there.adminPort);
    // Whoever comes first gets it anew; the other must not have kept the old one.
    const turns = version % 2 === 0 ? [client, other] : [other, client];
    for (const one of turns) expect(bodyOf(await one.ask(PAGE))).toBe(`v${version}`);
  }
});

test('another configuration', async () => {
  const stage = await setStage({ gateway: 'server:\n  watch_config: false\n', host: UNVERIFIED });
  const client = await openClient(stage.gateway.port);
  await warm(client, PAGE);
  expect(await client.ask(PAGE)).toContain('X-Render-Cache: hit');
  const rows = [
    ['downstream_cache: vary\n', /\r\nCache-Control: public/],
    ['url_rules: [{id: named, match: /page}]\n', /\r\nX-Matched-Rule: named\r\n/],
    ['unmatched_dimension: block\ndimensions: {none: {id: 9, match_ua: [x]}}\n', /^HTTP\/1.1 403/],
    ['', /\r\nX-Render-Cache: hit\r\n/],
  ] as const;
  for (const [host, expected] of rows) {
    await stage.gateway.write({ hosts: hostsText(stage.origin.url, { host: UNVERIFIED + host }) });
    expect(await stage.gateway.reload()).toBe(true);
    for (let i = 0; i < 2; i += 1) expect(await client.ask(PAGE)).toMatch(expected);
  }
});

test('the end of the server loses nothing, and says so in the last answer', async () => {
  const stage = await setStage({ host: UNVERIFIED });
  const { port } = stage.gateway;
  await warm(await openClient(port), PAGE);
  const parsed = countParsed(port);
  let hasStopped = false;
  const clients = await Promise.all(Array.from({ length: 10 }, () => openClient(port)));
  const runs = clients.map(async (client) => {
    let asked = 0;
    for (;;) {
      asked += 1;
      const text = await client.ask(PAGE);
      if (/\r\nConnection: close\r\n/.test(text)) return { client, asked };
      expect(text).toContain('X-Render-Cache: hit');
      expect(hasStopped).toBe(false);
    }
  });
  await waitUntil('they are served', () => clients.every(({ text }) => hasAnswers(20)(text())));
  expect(parsed()).toBe(0);
  await stage.gateway.stop();
  hasStopped = true;
  for (const { client, asked } of await Promise.all(runs)) {
    expect(splitAnswers(client.text()).map(({ status }) => status)).toEqual(
      Array.from({ length: asked }, () => 200),
    );
    await waitUntil('it is closed', client.isClosed);
  }
  expect(parsed()).toBe(clients.length);
});
