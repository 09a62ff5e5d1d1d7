// Requests that only the origin can answer for: redirects to a page's own key, pages made with a
// client's own headers, and URLs without a normal form.
import { describe, expect, test } from 'vitest';
import { answer, HUMAN, page, setStage } from './stage.ts';

describe('an origin that insists on the slash which the policy removes', () => {
  const rows = [
    ['', ''],
    [', canonical_redirect: 301', ''],
    ['', 'service'],
  ] as const;
  test.each(rows)('is reached by its redirect (%j, %j)', async (more, engine) => {
    const stage = await setStage({
      ...(engine === 'service' ? { engine } : {}),
      gateway: `normalization: {trailing_slash: remove${more}}\n`,
      origin: ({ target }) =>
        target.endsWith('/') ? page('the page') : answer(301, '', `Location: ${target}/`),
    });
    if (engine === 'service') {
      const redirect = {
        kind: 'redirect',
        status: 301,
        location: 'https://site.test/docs/',
      } as const;
      stage.renderer.script('https://site.test/docs', redirect);
    }
    const first = await stage.ask('/docs');
    expect([first.status, first.header('Location')]).toEqual([301, '/docs/']);
    expect(first.header('Cache-Status')).toContain('detail=self_redirect');
    const second = await stage.ask('/docs/');
    expect([second.status, second.body]).toEqual([200, 'the page']);
  });
});

describe('a page made with a client header', () => {
  test('is that client’s alone', async () => {
    const stage = await setStage({
      gateway: 'headers: {safe_request: [Accept-Language]}\n',
      origin: ({ head }) => page(/accept-language: (\S+)/i.exec(head)?.[1] ?? 'plain'),
    });
    const german = await stage.ask('/', { headers: ['Accept-Language: de'] });
    expect([german.body, german.header('X-Render-Cache')]).toEqual(['de', 'new']);
    expect(german.header('Cache-Status')).toContain('detail=request_headers');
    const both = await Promise.all([
      stage.ask('/two', { headers: ['Accept-Language: fr'] }),
      stage.ask('/two'),
    ]);
    expect(both.map(({ body }) => body)).toEqual(['fr', 'plain']);
    expect((await stage.ask('/')).body).toBe('plain');
    expect((await stage.ask('/')).header('X-Render-Cache')).toBe('hit');
  });

  test('leaves no memory that others would suffer from', async () => {
    const stage = await setStage({
      gateway: 'headers: {safe_request: [X-Theme]}\n',
      origin: ({ head }) =>
        /x-theme/i.test(head) ? answer(200, '{}', 'Content-Type: application/json') : page('fine'),
    });
    await stage.ask('/', { headers: ['X-Theme: json'] });
    expect((await stage.ask('/')).header('X-Render-Cache')).toBe('new');
    expect((await stage.ask('/')).header('X-Render-Cache')).toBe('hit');
  });

  test('a refresh takes no client headers along', async () => {
    const stage = await setStage({
      hasTestClock: true,
      gateway: 'headers: {safe_request: [X-Theme]}\n',
      render: 'cache: {jitter: 0}',
    });
    await stage.ask('/');
    stage.clock.advance(3_600_000);
    await stage.ask('/', { headers: ['X-Theme: dark'] });
    await expect.poll(() => stage.origin.requests.length, { timeout: 5_000 }).toBe(2);
    expect(stage.origin.requests[1]?.head).not.toMatch(/x-theme/i);
  });
});

describe('a URL without a normal form on a host that renders nothing', () => {
  const target = `/?${'&a'.repeat(1_100)}`;
  const passAll = 'dimensions: {all: {id: 5, action: bypass, match_ua: ["*"]}}\n';
  const rows = [
    ['passes on everything', `${passAll}unmatched_dimension: all\n`, 200],
    ['blocks some', 'dimensions: {bad: {id: 5, action: block, match_ua: ["*BadBot*"]}}\n', 400],
    ['blocks the rest', `${passAll}unmatched_dimension: block\n`, 400],
  ] as const;
  test.each(rows)('a host that %s', async (_what, host, status) => {
    const stage = await setStage({ host });
    for (const userAgent of ['BadBot', HUMAN]) {
      expect((await stage.ask(target, { userAgent })).status).toBe(status);
    }
    expect(stage.origin.requests.length).toBe(status === 200 ? 2 : 0);
  });
});
