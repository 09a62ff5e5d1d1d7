// What caches in front are told, on every way an answer can take: of one URL crawlers get another
// page than people, and whatever is kept of the one must never be given to the other.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { sendRaw } from '../helpers/raw-client.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { countParsed, slowly } from '../lane/lane-client.ts';
import {
  AS_SENT,
  FALLBACK,
  get,
  KEPT_BEFORE,
  MODES,
  type Mode,
  PAGES,
  PASSED_ON,
  PEOPLE,
  type Row,
  SENT,
  VARIED,
} from './downstream-rows.ts';
import { answerOfSite, openSite, type SiteStage } from './downstream-stage.ts';
import { BOT, HUMAN, setStage } from './stage.ts';

describe.each(MODES)('downstream_cache: %s', (mode) => {
  let stage: SiteStage;
  beforeAll(async () => {
    stage = await openSite(mode, '');
  });
  afterAll(async () => {
    await stage.close();
  });

  test.each(PASSED_ON)('passed on: $what', async (row) => {
    const parsed = countParsed(stage.gateway.port);
    await expectTold(stage, row, mode);
    expect(parsed()).toBe(0);
    await expectTold(stage, { ...row, request: slowly(row.request) }, mode);
    expect(parsed()).toBe(1);
  });

  test.each(FALLBACK)('in place of a page: $what', async (row) => {
    await expectTold(stage, row, mode);
  });

  test.each(PAGES)('rendered: $what', async (row) => {
    // Got, then from the store.
    for (let round = 0; round < 2; round += 1) await expectTold(stage, row, mode);
  });
});

const AFTER_2_HOURS: Readonly<Record<Mode, readonly string[]>> = {
  private: ['cache-control: private, no-cache'],
  vary: ['cache-control: public, max-age=0'],
  origin: SENT,
};

test.each(MODES)('downstream_cache: %s: an old page in place of one', async (mode) => {
  const stage = await openSite(mode, '');
  onTestFinished(stage.close);
  await stage.ask('/stored');
  stage.renderer.script('https://site.test/stored', { kind: 'failed', code: 'crashed' });
  stage.clock.advance(7_200_000);
  const head = await headOf(stage, get(BOT, '/stored'));
  expect(head).toContain('X-Render-Cache: stale');
  expect(told(head).slice(0, -1)).toEqual(AFTER_2_HOURS[mode]);
});

describe.each(MODES)('downstream_cache: %s, with a cache of what is passed on', (mode) => {
  let stage: SiteStage;
  beforeAll(async () => {
    stage = await openSite(mode, 'bypass: {cache: {enabled: true}}\n');
  });
  afterAll(async () => {
    await stage.close();
  });

  test.each(KEPT_BEFORE)('$what', async (row) => {
    const [, target = ''] = row.request.split(' ');
    await stage.ask(target, { userAgent: HUMAN });
    const isOurs = !target.startsWith('/app');
    await waitUntil('it is kept', async () => {
      const head = await headOf(stage, row.request);
      return !isOurs || head.includes('edge-gateway; hit');
    });
    await expectTold(stage, row, mode);
  });

  test('the first answer, on its way into the store', async () => {
    const request = get(HUMAN, '/other');
    await expectTold(stage, { request, expected: PEOPLE, shows: /fwd=uri-miss; stored/ }, mode);
  });
});

test('a host that renders nothing has one page for all', async () => {
  const stage = await setStage({
    gateway: 'downstream_cache: vary\n',
    host: 'dimensions: {desktop: {id: 1, action: bypass, match_ua: [$SearchBots]}}\n',
    origin: answerOfSite,
  });
  expect(told(await headOf(stage, get(HUMAN, '/page')))).toEqual(AS_SENT);
});

test('a host that refuses some has another answer for those', async () => {
  const stage = await setStage({
    gateway: 'downstream_cache: vary\n',
    host: 'dimensions: {desktop: {id: 1, action: block, match_ua: [$SearchBots]}}\n',
    origin: answerOfSite,
  });
  expect(told(await headOf(stage, get(HUMAN, '/page')))).toEqual(VARIED);
  expect(told(await headOf(stage, get(BOT, '/page')))).toEqual([
    'cache-control: private, no-store',
  ]);
});

async function expectTold(
  stage: Pick<SiteStage, 'gateway'>,
  { request, expected, shows }: Pick<Row, 'request' | 'expected' | 'shows'>,
  mode: Mode,
): Promise<void> {
  const head = await headOf(stage, request);
  expect(head).toMatch(shows);
  expect(told(head)).toEqual('private' in expected ? expected[mode] : expected);
}

/** One request, on a connection of its own. */
async function headOf({ gateway }: Pick<SiteStage, 'gateway'>, request: string): Promise<string> {
  const until = (text: string): boolean => text.includes('\r\n\r\n');
  const { text } = await sendRaw(gateway.port, request, { until });
  return text.slice(0, text.indexOf('\r\n\r\n'));
}

/** What an answer says to caches, in lower-case names and their order. */
function told(head: string): readonly string[] {
  return head
    .split('\r\n')
    .filter((line) => /^(?:[\w-]*cache-control|surrogate-control|expires|vary):/i.test(line))
    .map((line) => line.replace(/^[^:]*/, (name) => name.toLowerCase()))
    .toSorted();
}
