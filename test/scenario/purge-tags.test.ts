// Purges over the admin API by tag, pattern and all, soft and taken back; what tags a page, and who
// gets to see that.

import { describe, expect, test } from 'vitest';
import { type PurgeAnswer, postPurge } from '../helpers/post-purge.ts';
import { HUMAN, page, type Reply, type Stage, setStage } from './stage.ts';

const purge = (stage: Stage, order: unknown): Promise<PurgeAnswer> =>
  postPurge(stage.gateway.adminPort, order);

const verdict = (reply: Reply): string | null => reply.header('X-Render-Cache');
const meta = (name: string, content: string): string =>
  `<meta name="${name}" content="${content}">`;

interface Tagging {
  readonly html: string;
  readonly fields?: readonly (readonly [string, string])[];
  readonly tags: readonly string[];
}

describe('a page is tagged', () => {
  const cases: Readonly<Record<string, Tagging>> = {
    'by Surrogate-Key': { html: 'x', fields: [['Surrogate-Key', 'a b']], tags: ['a', 'b'] },
    'by Cache-Tag': { html: 'x', fields: [['Cache-Tag', 'a, c']], tags: ['a'] },
    'by both': {
      html: 'x',
      fields: [
        ['Cache-Tag', 'a'],
        ['surrogate-key', 'b'],
      ],
      tags: ['a', 'b'],
    },
    'by itself': { html: `<head>${meta('edge-gateway-tags', 'a, b')}</head>`, tags: ['a', 'b'] },
    'in the words of others': {
      html: meta('cache-tag', 'a') + meta('Surrogate-Key', 'b'),
      tags: ['a', 'b'],
    },
    'by so many that it may have any': {
      html: 'x',
      fields: [['Surrogate-Key', Array.from({ length: 129 }, (_, i) => `t${i}`).join(' ')]],
      tags: ['a', 'b', 'x'],
    },
    'by no script': { html: `<script>"${meta('cache-tag', 'a')}"</script>`, tags: [] },
    'by nothing behind its head': { html: `<body>${meta('cache-tag', 'a')}`, tags: [] },
  };

  test.each(Object.entries(cases))('%s', async (_how, { html, fields = [], tags }) => {
    const stage = await setStage({
      origin: () => page(html, ...fields.map(([name, value]) => `${name}: ${value}`)),
    });
    await expectTags(stage, tags);
  });

  test.each(Object.entries(cases))('%s, rendered', async (_how, { html, fields = [], tags }) => {
    const stage = await setStage({ engine: 'service' });
    const headers = [['content-type', 'text/html'] as const, ...fields];
    stage.renderer.script('*', { kind: 'page', html, head: { headers } });
    await expectTags(stage, tags);
  });

  async function expectTags(stage: Stage, tags: readonly string[]): Promise<void> {
    for (const tag of ['a', 'b', 'x']) {
      await stage.ask('/page');
      expect(verdict(await stage.ask('/page'))).toBe('hit');
      const isTagged = tags.includes(tag);
      const { answer } = await purge(stage, { tag });
      expect(answer).toMatchObject({ entries: isTagged ? 1 : 0, tag, host: null, url: null });
      expect(verdict(await stage.ask('/page'))).toBe(isTagged ? 'new' : 'hit');
    }
  }
});

test('tags are not for clients unless the policy says so; passed on they are', async () => {
  const origin = ({ target }: { readonly target: string }): string =>
    page(
      'x',
      'Surrogate-Key: a',
      'Cache-Tag: b',
      ...(target === '/own' ? ['Set-Cookie: c=d'] : []),
    );
  const stage = await setStage({ origin });
  for (const path of ['/page', '/page', '/own']) {
    const reply = await stage.ask(path);
    expect([reply.header('Surrogate-Key'), reply.header('Cache-Tag')]).toEqual([null, null]);
  }
  const passed = await stage.ask('/page', { userAgent: HUMAN });
  expect([passed.header('Surrogate-Key'), passed.header('Cache-Tag')]).toEqual(['a', 'b']);
  const open = await setStage({ origin, host: 'headers: {safe_response_add: [Cache-Tag]}' });
  await open.ask('/page');
  expect((await open.ask('/page')).header('Cache-Tag')).toBe('b');
});

test('a pattern means paths under every spelling, of one host or of all', async () => {
  const stage = await setStage();
  const paths = ['/%C3%BCber/uns?x=1', '/%c3%bcber/a', '/other'];
  for (const path of paths) await stage.ask(path);
  const count = async (order: object): Promise<unknown> =>
    (await purge(stage, { ...order, dry_run: true })).answer['entries'];
  expect(await count({ pattern: '/über/*' })).toBe(2);
  expect(await count({ pattern: '/%c3%bcBER/*', host: 'site.test' })).toBe(2);
  expect(await count({ pattern: '~^/[^o]', host: 1 })).toBe(2);
  expect(await count({ pattern: '*' })).toBe(3);
  expect((await purge(stage, { pattern: '/über/*' })).answer).toMatchObject({ entries: 2 });
  expect(verdict(await stage.ask('/other'))).toBe('hit');
});

test('soft: stale and renewed once; taken back: fresh again', async () => {
  const stage = await setStage({ hasTestClock: true, render: 'cache: {jitter: 0}' });
  for (const path of ['/a', '/b']) await stage.ask(path);
  const { answer } = await purge(stage, { host: 'site.test', soft: true });
  expect(answer).toMatchObject({ entries: 2, soft: true, id: 1 });
  expect(verdict(await stage.ask('/a', { method: 'HEAD' }))).toBe('stale');
  expect(await purge(stage, { undo: 1, dry_run: true })).toMatchObject({
    status: 200,
    answer: { entries: 2, id: null, undoes: 1 },
  });
  expect(verdict(await stage.ask('/a'))).toBe('stale');
  expect(await purge(stage, { undo: 1 })).toMatchObject({ status: 200, answer: { undoes: 1 } });
  expect(verdict(await stage.ask('/b'))).toBe('hit');
  expect(await purge(stage, { undo: 1 })).toEqual({
    status: 409,
    answer: {
      error: { kind: 'not_undoable', reason: 'undone', message: 'it was taken back already' },
    },
  });
});

describe('what is not understood is refused, and purges nothing', () => {
  test.each<[order: unknown, status: number, error: string]>([
    [[], 400, 'send a JSON object'],
    [{}, 400, 'give one of'],
    [{ soft: true }, 400, 'give one of'],
    [{ url: 'https://site.test/', tag: 'a' }, 400, 'give one of'],
    [{ all: true, pattern: '*' }, 400, 'give one of'],
    [{ url: 'https://site.test/', host: 1 }, 400, 'a host goes with a pattern or a tag'],
    [{ all: true, host: 1 }, 400, 'a host goes with a pattern or a tag'],
    [{ undo: 1, soft: true }, 400, 'says nothing with'],
    [{ all: 'yes' }, 400, '"all" is true or false'],
    [{ tag: 1 }, 400, '"tag" is a text'],
    [{ undo: '1' }, 400, '"undo" is a number'],
    [{ host: -1 }, 400, '"host" is a domain, or the id of a host'],
    [{ host: 1, everything: true }, 400, 'unknown field "everything"'],
    [{ ['__proto__x']: 1 }, 400, 'unknown field'],
    [{ tag: 'a b' }, 400, 'invalid_tag'],
    [{ pattern: 'news' }, 400, 'matches no path'],
    [{ pattern: '/a?b' }, 400, 'never contains'],
    [{ pattern: '~(' }, 400, 'bad regular expression'],
    [{ pattern: '*', host: 'x.test' }, 404, 'unknown_host'],
    [{ undo: 5 }, 409, 'unknown'],
  ])('%j', async (order, status, error) => {
    const stage = await setStage();
    await stage.ask('/page');
    const told = await purge(stage, order);
    expect([told.status, JSON.stringify(told.answer)]).toEqual([
      status,
      expect.stringContaining(error.replaceAll('"', '\\"')),
    ]);
    expect(verdict(await stage.ask('/page'))).toBe('hit');
  });
});
