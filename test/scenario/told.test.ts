// What log and metrics tell of requests that are not answered as planned: the client has left, or
// has waited for somebody else's fetch.
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { waitUntil } from '../helpers/wait-until.ts';
import { BOT, HUMAN, type Stage, setStage } from './stage.ts';

type Line = Readonly<Record<string, unknown>>;

const CACHED = 'bypass: {cache: {enabled: true}}';

const requestLines = ({ gateway }: Stage): readonly Line[] =>
  gateway.log.filter(({ msg }) => msg === 'request');

async function readMetrics({ gateway }: Stage): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${gateway.adminPort}/metrics`)).text();
}

test.each([
  ['passed on', HUMAN, '', { action: 'bypass', source: 'bypass', cache: 'bypass', key: null }],
  [
    'passed on for an answer to keep',
    HUMAN,
    CACHED,
    { action: 'bypass', source: 'bypass', cache: 'miss', key: /^cache:1:0:/ },
  ],
  [
    'waiting for a page',
    BOT,
    '',
    { action: 'render', source: 'none', cache: 'miss', key: /^cache:1:[1-9]/ },
  ],
])('a client that leaves, %s: a full line', async (_what, agent, host, { key, ...words }) => {
  const site = await setStage({ origin: () => null, host });
  const client = connect(site.gateway.port, '127.0.0.1');
  client.write(`GET /slow?b=2 HTTP/1.1\r\nHost: site.test\r\nUser-Agent: ${agent}\r\n\r\n`);
  await waitUntil('the origin is asked', () => site.origin.requests.length === 1);
  client.destroy();
  await waitUntil('it is told', () => requestLines(site).length === 1);
  const line = requestLines(site)[0] ?? {};
  const url = 'https://site.test/slow?b=2';
  expect(line).toMatchObject({ ...words, status: 499, aborted: true, host: 'site.test', url });
  if (key === null) expect(line['key']).toBeNull();
  else expect(line['key']).toMatch(key);
  const labels = `domain="site.test",dimension="[a-z]+",source="${words.source}"`;
  expect(await readMetrics(site)).toMatch(new RegExp(`requests_total\\{host="1",${labels}`));
  // What is still on its way would be waited for.
  await site.origin.close();
});
