// What log and metrics tell of requests that are not answered as planned: the client has left, or
// has waited for somebody else's fetch.
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import type { Answer } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { BOT, HUMAN, page, type Stage, setStage } from './stage.ts';
import { limitWaiters } from './waiters.ts';

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

test.each([
  ['a page', BOT, '', 'rendered'],
  ['what is passed on', HUMAN, CACHED, 'bypass'],
])('a crowd on %s: who waited for another one’s fetch', async (_what, agent, host, source) => {
  let sendHeld = (): void => undefined;
  const origin: Answer = (_request, socket) => {
    sendHeld = () => void socket.write(page('one', 'Cache-Control: max-age=60'));
    return null;
  };
  const site = await setStage({ origin, host, gateway: limitWaiters(3) });
  const replies = Array.from({ length: 5 }, () => site.ask('/page', { userAgent: agent }));
  // One of them asks and three wait for it.
  await waitUntil('one is refused', () => requestLines(site).length === 1);
  await waitUntil('the origin is asked', () => site.origin.requests.length === 1);
  sendHeld();
  await Promise.all(replies);
  await waitUntil('all are told', () => requestLines(site).length === 5);
  const served = requestLines(site).filter(({ status }) => status === 200);
  const waited = served.filter(({ collapsed }) => collapsed === true);
  expect([served.length, waited.length]).toEqual([4, 3]);
  expect(new Set(requestLines(site).map(({ collapsed }) => collapsed))).toEqual(
    new Set([true, undefined]),
  );
  const counter = `edge_gateway_collapsed_requests_total{source="${source}"} 3`;
  expect(await readMetrics(site)).toContain(counter);
});

const WAYS = [
  ['passed on', HUMAN, ''],
  ['passed on for an answer to keep', HUMAN, CACHED],
  ['a page', BOT, ''],
] as const;

test.each<[string, string, number, Answer]>([
  [
    'accepts and closes',
    'connection_terminated',
    502,
    (_request, socket) => {
      socket.end();
      return null;
    },
  ],
  ['speaks no HTTP', 'http_protocol_error', 502, () => 'hello\r\n\r\n'],
  ['is silent', 'http_response_timeout', 504, () => null],
])(
  'an origin that %s: the same words whatever was wanted',
  async (_what, error, status, origin) => {
    const told = await Promise.all(
      WAYS.map(async ([, userAgent, host]) => {
        const bounds = { gateway: 'bypass: {timeout: 300ms}\n', render: 'timeout: 300ms' };
        const site = await setStage({ origin, host, ...bounds });
        const reply = await site.ask('/page', { userAgent });
        await waitUntil('it is told', () => requestLines(site).length === 1);
        const { origin_error: inLog, origin_detail: detail, source } = requestLines(site)[0] ?? {};
        expect(detail).toEqual(expect.any(String));
        const names = ['Proxy-Status', 'X-Render-Source', 'X-Render-Cache', 'Via'];
        const body = reply.body.replace(/id: .*/, 'id:');
        return [reply.status, body, ...names.map(reply.header), inLog, source];
      }),
    );
    const text = status === 502 ? '502 Bad Gateway' : '504 Gateway Timeout';
    const proxyStatus = `edge-gateway; error=${error}`;
    const expected = [status, `${text}\nrequest id:\n`, proxyStatus, 'bypass', 'bypass', null];
    expect(told).toEqual(WAYS.map(() => [...expected, error, 'bypass']));
  },
);

/** Half of what was announced, and the end. */
const cutShort =
  (...lines: readonly string[]): Answer =>
  (_request, socket) => {
    const head = ['HTTP/1.1 200 OK', 'Content-Length: 1000', ...lines].join('\r\n');
    socket.write(`${head}\r\n\r\nhalf`, () => socket.destroy());
    return null;
  };

const FRESH = 'Cache-Control: max-age=60';
const CUT_WAYS: readonly (readonly [string, string, string, string])[] = [
  ['passed on by the lane', '', 'GET', 'X: 1'],
  ['passed on the long way', '', 'POST', 'X: 1'],
  ['collected for the store', CACHED, 'GET', FRESH],
  ['not to be kept', CACHED, 'GET', 'Cache-Control: no-store'],
];

test.each(CUT_WAYS)('an origin cuts what is %s: it is told', async (_what, host, method, field) => {
  const site = await setStage({ origin: cutShort(field), host });
  const reply = await site.ask('/file', { userAgent: HUMAN, method });
  expect(reply).toMatchObject({ status: 200, body: expect.not.stringContaining('halfhalf') });
  await waitUntil('it is told', () => requestLines(site).length === 1);
  expect(requestLines(site)[0]).toMatchObject({
    status: 200,
    aborted: true,
    origin: `http://127.0.0.1:${site.origin.port}`,
    origin_error: 'http_response_incomplete',
    origin_detail: 'cut off behind its head',
  });
});

test.each(CUT_WAYS)('a client leaves inside what is %s: no error', async (...way) => {
  const [, host, method, field] = way;
  const origin: Answer = () => `HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n${field}\r\n\r\nhalf`;
  const site = await setStage({ origin, host });
  const client = connect(site.gateway.port, '127.0.0.1');
  client.write(`${method} / HTTP/1.1\r\nHost: site.test\r\nUser-Agent: ${HUMAN}\r\n\r\n`);
  await waitUntil('half is there', () => String(client.read() ?? '').endsWith('half'));
  client.destroy();
  await waitUntil('it is told', () => requestLines(site).length === 1);
  const line = requestLines(site)[0];
  const originUrl = `http://127.0.0.1:${site.origin.port}`;
  expect(line).toMatchObject({ status: 200, aborted: true, origin: originUrl });
  expect(line).not.toHaveProperty('origin_error');
  await site.origin.close();
});

test('an origin that refuses: the same members, passed on or passed on to keep', async () => {
  const told = await Promise.all(
    ['', CACHED].map(async (host) => {
      const site = await setStage({ host });
      const refusing = `127.0.0.1:${site.origin.port}`;
      await site.origin.close();
      await site.ask('/page', { userAgent: HUMAN });
      await waitUntil('it is told', () => requestLines(site).length === 1);
      const { origin, origin_error: error, origin_detail: detail } = requestLines(site)[0] ?? {};
      return [origin, error, detail].map((text) => String(text).replace(refusing, 'ADDRESS'));
    }),
  );
  const detail = 'ECONNREFUSED: connect ECONNREFUSED ADDRESS';
  const expected = ['http://ADDRESS', 'connection_refused', detail];
  expect(told).toEqual([expected, expected]);
});
