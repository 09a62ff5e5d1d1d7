// Pages that were captured before they were ready: a crowd shares one for some seconds, it is marked,
// renewed behind the clients' backs, and never takes the place of a good page. What an origin's
// connection cut off is no such page and is kept for nobody.
import { describe, expect, test } from 'vitest';
import { waitUntil } from '../helpers/wait-until.ts';
import { answer, page, type Reply, type Stage, setStage } from './stage.ts';

const URL_ASKED = 'https://site.test/page';
const HOUR_MS = 3_600_000;

type Outcome = 'complete' | 'partial';

interface RenderStage extends Stage {
  readonly render: (outcome: Outcome, html: string, status?: number) => void;
  readonly renders: () => number;
}

async function setRenderStage(lines: { readonly host?: string } = {}): Promise<RenderStage> {
  const stage = await setStage({
    engine: 'service',
    hasTestClock: true,
    render: 'cache: {ttl: 1h, jitter: 0, expired: {strategy: serve_stale, stale_ttl: 10h}}',
    ...lines,
  });
  return {
    ...stage,
    render: (outcome, html, status = 200) => {
      stage.renderer.script(URL_ASKED, { kind: 'page', html, head: { outcome, status } });
    },
    renders: () => stage.renderer.requests.length,
  };
}

const brief = (reply: Reply): string =>
  [
    reply.header('X-Render-Cache'),
    reply.body,
    /detail=([\w"-]+)/.exec(reply.header('Cache-Status') ?? '')?.[1] ?? '-',
  ].join(' ');

describe('a page that was not ready', () => {
  test('is shared by a crowd, and marked', async () => {
    const stage = await setRenderStage();
    stage.render('partial', 'half');
    const crowd = await Promise.all(Array.from({ length: 20 }, () => stage.ask('/page')));
    for (const reply of crowd) expect(brief(reply)).toMatch(/ half partial$/);
    expect(brief(await stage.ask('/page'))).toBe('hit half partial');
    expect(stage.renders()).toBe(1);
  });

  test('is told to who asks why: by the log, and by explain', async () => {
    const stage = await setRenderStage();
    const pending_requests = ['https://api.test/slow?token=secret'];
    const head = { outcome: 'partial', pending_requests } as const;
    stage.renderer.script(URL_ASKED, { kind: 'page', html: 'half', head });
    await stage.ask('/page');
    const { log, adminPort } = stage.gateway;
    expect(log.filter(({ msg }) => msg === 'page not ready')).toMatchObject([
      { url: URL_ASKED, source: 'service', pending: ['https://api.test/slow'] },
    ]);
    expect(JSON.stringify(log)).not.toContain('secret');
    const explain = async (): Promise<unknown> => {
      const query = new URLSearchParams({ url: URL_ASKED });
      return await (
        await fetch(`http://127.0.0.1:${adminPort}/explain?${query.toString()}`)
      ).json();
    };
    expect(await explain()).toMatchObject({ cached: 'fresh', partial: true });
    stage.clock.advance(10_000);
    expect(await explain()).toMatchObject({ cached: 'stale', partial: true });
    stage.clock.advance(20_000);
    expect(await explain()).toMatchObject({ cached: 'absent', partial: false });
  });

  test('is renewed in the background, and the whole page takes its place', async () => {
    const stage = await setRenderStage();
    stage.render('partial', 'half');
    await stage.ask('/page');
    stage.render('complete', 'whole');
    stage.clock.advance(9_999);
    expect(brief(await stage.ask('/page'))).toBe('hit half partial');
    stage.clock.advance(1);
    expect(brief(await stage.ask('/page'))).toBe('stale half partial');
    await waitUntil('it is whole', async () => (await stage.ask('/page')).body === 'whole');
    expect(brief(await stage.ask('/page'))).toBe('hit whole -');
    stage.clock.advance(HOUR_MS - 1);
    expect(brief(await stage.ask('/page'))).toBe('hit whole -');
    expect(stage.renders()).toBe(2);
  });

  test('is renewed by another such page', async () => {
    const stage = await setRenderStage();
    stage.render('partial', 'half');
    await stage.ask('/page');
    stage.render('partial', 'more');
    stage.clock.advance(10_000);
    await stage.ask('/page');
    await waitUntil('it is newer', async () => (await stage.ask('/page')).body === 'more');
    expect(brief(await stage.ask('/page'))).toBe('hit more partial');
  });

  test('is gone after 30 seconds', async () => {
    const stage = await setRenderStage();
    stage.render('partial', 'half');
    await stage.ask('/page');
    stage.clock.advance(30_000);
    stage.render('complete', 'whole');
    expect(brief(await stage.ask('/page'))).toBe('new whole -');
  });

  test('never takes the place of a good page, not even of an expired one', async () => {
    const stage = await setRenderStage();
    stage.render('complete', 'whole');
    await stage.ask('/page');
    stage.render('partial', 'half');
    stage.clock.advance(2 * HOUR_MS);
    expect(brief(await stage.ask('/page'))).toBe('stale whole -');
    await waitUntil('it was rendered again', () => stage.renders() === 2);
    for (const wait of [0, 1_000, HOUR_MS]) {
      stage.clock.advance(wait);
      expect((await stage.ask('/page')).body).toBe('whole');
    }
  });

  test('takes the place of a failure, but no failure takes its place', async () => {
    const stage = await setRenderStage();
    stage.render('complete', 'broken', 503);
    await stage.ask('/page');
    stage.clock.advance(10_000);
    stage.render('partial', 'half');
    expect(brief(await stage.ask('/page'))).toBe('new half partial');
    stage.render('complete', 'broken', 503);
    stage.clock.advance(10_000);
    await stage.ask('/page');
    await waitUntil('it was rendered again', () => stage.renders() === 3);
    expect((await stage.ask('/page')).body).toBe('half');
  });

  test('is for no cache in front to keep', async () => {
    const stage = await setRenderStage({ host: 'downstream_cache: vary' });
    stage.render('partial', 'half');
    const replies = [await stage.ask('/page'), await stage.ask('/page')];
    for (const reply of replies) expect(reply.header('Cache-Control')).toBe('private, no-cache');
  });
});

test('an origin’s answer that ends with its connection is never stored', async () => {
  const whole = answer(200, 'half', 'Content-Type: text/html');
  const cut = whole.replace(/Content-Length: \d+\r\n/i, '');
  let next = cut;
  const stage = await setStage({
    origin: (_request, socket) => {
      socket.end(next);
      return null;
    },
  });
  const first = await stage.ask('/page');
  expect(brief(first)).toBe('new half partial');
  next = page('whole');
  expect((await stage.ask('/page')).body).toBe('whole');
});
