// Group A of the public reports about prerender and proxy products: URLs and query strings, from the
// client's bytes to what the renderer and the origin are asked for.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mapParallel } from '../helpers/map-parallel.ts';
import { valuesOf } from '../helpers/raw-origin.ts';
import { answer, HUMAN, keyOf, openStage, page, setStage } from './stage.ts';

let stage: Awaited<ReturnType<typeof openStage>>;
beforeAll(async () => {
  stage = await openStage({
    engine: 'service',
    host: 'tracking_params: {params_add: [sid]}\n',
    origin: ({ target }) => page(`origin ${target}`),
  });
});
afterAll(async () => {
  await stage.close();
});

const lastRendered = (): string | undefined => stage.renderer.requests.at(-1)?.url;
const lastTarget = (): string | undefined => stage.origin.requests.at(-1)?.target;

describe('what the renderer is asked for', () => {
  const rows = [
    ['A1', '/product/id-123%2F456', '/product/id-123%2F456'],
    ['A2', '/s?q=a%26b%23c%2Bd+e', '/s?q=a%26b%23c%2Bd%20e'],
    ['A3', '/?foo=1%2C2', '/?foo=1%2C2'],
    ['A5', '/five?a=1?_escaped_fragment_=', '/five?a=1%3F_escaped_fragment_%3D'],
    ['A5', '/five?utm_medium=email?_escaped_fragment_=', '/five'],
    ['A6', '/six?sid=1&a=b', '/six?a=b'],
    ['A11', '/eleven?k=', '/eleven?k'],
    ['A11', '/eleven?b=2&a=2&a=1', '/eleven?a=2&a=1&b=2'],
  ] as const;
  test.each(rows)('%s: %s', async (_id, target, rendered) => {
    const renders = stage.renderer.requests.length;
    const reply = await stage.ask(target);
    expect(reply.status).toBe(200);
    expect(lastRendered()).toBe(`https://site.test${rendered}`);
    const again = await stage.ask(rendered);
    expect([again.header('X-Render-Cache'), keyOf(again)]).toEqual(['hit', keyOf(reply)]);
    expect(stage.renderer.requests.length).toBe(renders + 1);
  });

  test('A10: a thousand click ids are one render, one entry and 999 hits', async () => {
    const renders = stage.renderer.requests.length;
    const links = Array.from({ length: 1_000 }, (_, index) => `/p?mc_eid=${index}`);
    const first = await stage.ask(links[0] ?? '');
    const replies = await mapParallel(16, links.slice(1), (link) => stage.ask(link));
    expect(stage.renderer.requests.length).toBe(renders + 1);
    expect(new Set(replies.map(keyOf))).toEqual(new Set([keyOf(first)]));
    expect(replies.every((reply) => reply.header('X-Render-Cache') === 'hit')).toBe(true);
    const query = new URLSearchParams({ url: 'https://site.test/p?mc_eid=5', user_agent: 'x' });
    const explained = await fetch(
      `http://127.0.0.1:${stage.gateway.adminPort}/explain?${query.toString()}`,
    );
    expect(await explained.json()).toMatchObject({ stripped: [{ name: 'mc_eid' }] });
  });
});

describe('what has keys of its own', () => {
  const rows = [
    ['A1', ['/product/id-123%2F456', '/product/id-123/456']],
    ['A2', ['/two?q=a%26b', '/two?q=a&b', '/two?q=a%23b', '/two?q=a%2Bb', '/two?q=a+b']],
    ['A11', ['/eleven?a=1&a=2', '/eleven?a=2&a=1', '/eleven?a=1', '/eleven?A=1']],
  ] as const;
  test.each(rows)('%s: %s', async (_id, targets) => {
    const replies = await mapParallel(1, targets, (target) => stage.ask(target));
    expect(new Set(replies.map(keyOf)).size).toBe(targets.length);
  });
});

describe('what a person asks for', () => {
  const rows = [
    ['A1', '/product/id-123%2F456'],
    ['A2', '/s?q=a%26b%23c%2Bd+e'],
    ['A3', '/?foo=1%2C2'],
    ['A3', '/?foo=1,2'],
    ['A5', '/?utm_medium=email?_escaped_fragment_='],
    ['A6', '/six?sid=1&a=b'],
    ['A7', '//evil.test/x'],
    ['A7', '/%2Fevil'],
    ['A7', '/\\evil'],
    ['A11', '/?k=&k'],
  ] as const;
  test.each(rows)('%s: %s reaches the origin as it is', async (_id, target) => {
    const reply = await stage.ask(target, { userAgent: HUMAN });
    expect([reply.status, lastTarget()]).toEqual([200, target]);
    expect(valuesOf(stage.origin.requests.at(-1), 'host')).toEqual(['site.test']);
  });

  test('A7: an absolute target is the same site, and no other', async () => {
    const own = await stage.ask('http://site.test//x?y', { userAgent: HUMAN });
    expect([own.status, lastTarget()]).toEqual([200, '//x?y']);
    const foreign = await stage.ask('http://evil.test/x', { userAgent: HUMAN });
    expect(foreign.status).toBe(400);
  });
});

describe('A9: a Location made from what the origin sees', () => {
  const rows = [
    ['a person', HUMAN],
    ['a crawler', undefined],
  ] as const;
  test.each(rows)('is the public one, for %s', async (_who, userAgent) => {
    const site = await setStage({
      origin: (request) => {
        const [proto] = valuesOf(request, 'x-forwarded-proto');
        const [host] = valuesOf(request, 'host');
        return answer(301, '', `Location: ${proto}://${host}${request.target}/`);
      },
    });
    const reply = await site.ask('/dir', userAgent === undefined ? {} : { userAgent });
    expect([reply.status, reply.header('Location')]).toEqual([301, 'https://site.test/dir/']);
  });

  test.each(rows)('naming the origin’s own address is mapped back, for %s', async (_who, agent) => {
    const site = await setStage({
      origin: ({ target }, socket) =>
        answer(302, '', `Location: http://127.0.0.1:${socket.localPort}${target}/?a`),
    });
    const reply = await site.ask('/dir', agent === undefined ? {} : { userAgent: agent });
    expect([reply.status, reply.header('Location')]).toEqual([302, 'https://site.test/dir/?a']);
  });
});

test('A13: an address in brackets stays one, and only a default port goes', async () => {
  const site = await setStage({ domain: '"[::1]"' });
  const rows = [
    ['[::1]:8080', 'https://[::1]:8080/x'],
    ['[::1]:443', 'https://[::1]/x'],
    ['[0:0:0:0:0:0:0:1]', 'https://[::1]/x'],
  ] as const;
  for (const [host, url] of rows) {
    expect((await site.ask('/x', { host })).header('X-Processed-URL')).toBe(url);
  }
});
