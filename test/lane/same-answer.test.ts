// The lane says what the pipeline says: the same request goes both ways at the same instant, and
// answer, log line and counters must not tell which way it went.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RawRequest } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import {
  answer,
  MOBILE_BOT,
  openStage,
  page,
  type Stage,
  type StageOptions,
  setStage,
} from '../scenario/stage.ts';
import { countParsed, openClient, plainGet, slowly, warm, withoutId } from './lane-client.ts';

const HTML = `<!doctype html>${'<p>words</p>'.repeat(400)}`;
const FIELDS = [
  'Content-Language: de',
  'Surrogate-Key: shop shoes',
  'Cache-Tag: red',
  'Cache-Control: public, max-age=5',
  'Expires: Thu, 01 Jan 2099 00:00:00 GMT',
  'Vary: Accept',
  'X-Frame-Options: DENY',
  'X-Request-ID: of-the-origin',
  'Via: 1.1 of-the-origin',
  'X-Latin: \xe4',
];

function answerFor({ target }: Pick<RawRequest, 'target'>): string {
  const status = Number(/^\/status-(\d+)/.exec(target)?.[1] ?? 200);
  if (status === 301) return answer(301, 'moved', 'Location: /elsewhere', ...FIELDS);
  const html = 'Content-Type: text/html; charset=utf-8';
  if (status !== 200) return answer(status, `<p>${status}</p>`, html);
  return page(target === '/empty' ? '' : HTML, ...FIELDS);
}

interface Row extends StageOptions {
  readonly what: string;
}

const CODES = [200, 203, 299, 301, 404, 410, 451];
const STATUSES = `cache: {jitter: 0, status_codes: [${CODES.join()}]}`;

const REQUESTS: readonly (readonly [string, string])[] = [
  ['a page', plainGet('/page')],
  ['an empty one', plainGet('/empty')],
  ['br', plainGet('/page', ['Accept-Encoding: br'])],
  ['gzip', plainGet('/page', ['Accept-Encoding: gzip, deflate'])],
  ['by q', plainGet('/page', ['Accept-Encoding: br;q=0.2, gzip;q=0.9'])],
  ['none by q', plainGet('/page', ['Accept-Encoding: br;q=0, *;q=0'])],
  ['any coding', plainGet('/page', ['Accept-Encoding: *'])],
  ['an empty Accept-Encoding', plainGet('/page', ['Accept-Encoding:'])],
  ['a phone', plainGet('/page').replace(/User-Agent: .*/, `User-Agent: ${MOBILE_BOT}`)],
  ['what is stripped', plainGet('/page?utm_source=x&b=2&a=1&gclid=y')],
  ['what is encoded', plainGet('/%7Epage/%c3%a4%2F?q=%20+%27')],
  ['an odd path', plainGet('//a/./b/../c"<>')],
  ['a rule', plainGet('/ruled/page')],
  ['a rule of latin1', plainGet('/r%C3%A4tsel')],
  ['an alias', plainGet('/page', [], 'www.site.test')],
  ['capitals', plainGet('/page', [], 'SITE.test')],
  ['a port', plainGet('/page', [], 'site.test:8080')],
  ['a root dot', plainGet('/page', [], 'site.test.')],
  ['cookies', plainGet('/page', ['Cookie: a=b', 'Cookie: c=d'])],
  ['an address from outside', plainGet('/page', ['X-Forwarded-For: 192.0.2.7, 10.0.0.1'])],
  ['an id from outside', plainGet('/page', ['X-Request-ID: their-own.id_1'])],
  ['an id that is none', plainGet('/page', ['X-Request-ID: "}'])],
  ['another proxy', plainGet('/page', ['Via: 1.1 varnish, 1.1 nginx'])],
  ['latin1', plainGet('/page', ['X-Any: \xe4\xa0', 'Accept-Language: de'])],
  ['caches in between', plainGet('/page', ['Cache-Control: no-cache', 'Pragma: no-cache'])],
  ...[...CODES, 500, 503].map((code) => [`a ${code}`, plainGet(`/status-${code}`)] as const),
];

const FEW: ReadonlySet<string> = new Set([
  ...[
    'a page',
    'br',
    'gzip',
    'a phone',
    'what is stripped',
    'a rule',
    'an alias',
    'a 301',
    'a 404',
  ],
  ...['an address from outside', 'an id from outside', 'an id that is none', 'a 500'],
]);

const ROWS: readonly Row[] = [
  { what: 'the defaults' },
  { what: 'diagnostics: off', gateway: 'diagnostics: off\n' },
  { what: 'downstream_cache: vary', gateway: 'downstream_cache: vary\n' },
  { what: 'downstream_cache: origin', gateway: 'downstream_cache: origin\n' },
  { what: 'no_vary_search: emit', gateway: 'normalization: {no_vary_search: emit}\n' },
  { what: 'trusted proxies', gateway: 'server:\n  trusted_proxies: [127.0.0.1, 10.0.0.0/8]\n' },
  { what: 'a dimension for those who match none', host: 'unmatched_dimension: mobile\n' },
];

/** Nobody is looked up behind a request's back: the log would tell how far that is. */
const UNVERIFIED = 'bots: {verify: "off"}\n';
const SAFE = '[Content-Language, Surrogate-Key, Cache-Tag, Vary, X-Frame-Options, X-Request-ID';
const RULES = 'url_rules: [{id: a-rule, match: /ruled/*}, {match: /rätsel}]\n';

describe.each(ROWS)('$what', (row) => {
  const { gateway = '', host = '' } = row;
  let stage: Awaited<ReturnType<typeof openStage>>;
  beforeAll(async () => {
    stage = await openStage({
      hasTestClock: true,
      origin: answerFor,
      render: STATUSES,
      gateway: `${gateway}headers: {safe_response_add: ${SAFE}, Via, X-Latin, Expires]}\n`,
      domain: '[site.test, www.site.test]',
      host: UNVERIFIED + host + RULES,
    });
  });
  afterAll(async () => {
    await stage.close();
  });

  // The first row is asked for everything, the others for what they may change.
  const isFirst = row.what === ROWS[0]?.what;
  test.each(REQUESTS.filter(([what]) => isFirst || FEW.has(what)))(
    '%s',
    async (_request, request) => {
      await expectSame(stage, request);
    },
  );
});

test('a page that was not ready', async () => {
  const stage = await setStage({ hasTestClock: true, engine: 'service', host: UNVERIFIED });
  const [url, html] = ['https://site.test/half', '<p>half</p>'];
  stage.renderer.script(url, { kind: 'page', html, head: { outcome: 'partial' } });
  const text = await expectSame(stage, plainGet('/half'));
  expect(text).toContain('detail=partial');
});

test('at any instant: age, date and time to live are those of the moment', async () => {
  const stage = await setStage({
    hasTestClock: true,
    host: UNVERIFIED,
    gateway: 'downstream_cache: vary\n',
    render: 'cache: {ttl: 5s, jitter: 0}',
  });
  const seen = new Set<string>();
  for (let step = 0; step < 40; step += 1) {
    seen.add(withoutId(await expectSame(stage, plainGet('/page'))));
    stage.clock.advance([1, 9, 90, 99, 301][step % 5] ?? 0);
  }
  expect(seen.size).toBeGreaterThan(6);
  stage.clock.advance(-2_500);
  await expectSame(stage, plainGet('/page'));
});

test('is counted alike', async () => {
  const host = `${UNVERIFIED}tracking_params: {params_add: [x]}\n`;
  const stage = await setStage({ hasTestClock: true, host });
  const request = plainGet('/page?x=1');
  await expectSame(stage, request);
  const client = await openClient(stage.gateway.port);
  const parsed = countParsed(stage.gateway.port);
  const counts: (readonly string[])[] = [];
  for (const one of [request, slowly(request)]) {
    const before = await readCounters(stage);
    for (let i = 0; i < 3; i += 1) await client.ask(one);
    const after = await readCounters(stage);
    counts.push([...after].map(([name, value]) => `${name} ${value - (before.get(name) ?? 0)}`));
  }
  expect(parsed()).toBe(3);
  expect(counts[0]).toEqual(counts[1]);
  expect(counts[0]).toContain('edge_gateway_memory_hits_total 3');
});

test('what is too large for one write is counted once all the same', async () => {
  const stage = await setStage({ origin: () => page('x'.repeat(70_000)), host: UNVERIFIED });
  const client = await openClient(stage.gateway.port);
  await warm(client, plainGet('/page'));
  const read = async () => (await readCounters(stage)).get('edge_gateway_memory_hits_total') ?? 0;
  const before = await read();
  await client.ask(slowly(plainGet('/page')));
  const each = (await read()) - before;
  await client.ask(plainGet('/page'));
  expect(await read()).toBe(before + 2 * each);
});

/** Asks both ways and answers with the text; the page is in memory before. */
async function expectSame({ gateway }: Pick<Stage, 'gateway'>, request: string): Promise<string> {
  const { port, log } = gateway;
  const client = await openClient(port);
  const parsed = countParsed(port);
  await warm(client, request);
  const asked = parsed();
  const lines = () => log.filter(({ msg }) => msg === 'request');
  await waitUntil('all log lines', () => lines().length >= asked);
  const logged = lines().length;
  const fast = await client.ask(request);
  expect(parsed()).toBe(asked);
  const slow = await client.ask(slowly(request));
  expect(parsed()).toBe(asked + 1);
  expect(withoutId(fast)).toBe(withoutId(slow));
  await waitUntil('two log lines', () => lines().length === logged + 2);
  const [one, other] = lines().slice(-2).map(withoutTime);
  expect(one).toBe(other);
  return fast;
}

/** All counters of ours, by name and labels; no times. */
async function readCounters({ gateway }: Stage): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`http://127.0.0.1:${gateway.adminPort}/metrics`);
  const lines = (await response.text()).split('\n');
  return new Map(
    lines
      .filter((line) => /^edge_gateway_\w+(_total|_count)[ {]/.test(line))
      .map((line) => {
        const end = line.lastIndexOf(' ');
        return [line.slice(0, end), Number(line.slice(end + 1))] as const;
      }),
  );
}

/** Its fields in their order. */
function withoutTime(line: Readonly<Record<string, unknown>>): string {
  const id = String(line['request_id']);
  const fields = { ...line, time: 0, duration_ms: 0, request_id: id.length === 36 ? '-' : id };
  return JSON.stringify(fields);
}
