// How the admin listener says no: the same shape whatever was asked and whoever refuses it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendRaw } from '../helpers/raw-client.ts';
import { openStage, page, type Stage } from './stage.ts';

let stage: Stage & { readonly close: () => Promise<void> };
beforeAll(async () => {
  stage = await openStage({ origin: () => page('a page') });
});
afterAll(() => stage.close());

const JSON_TYPE = { 'content-type': 'application/json' };

interface Question {
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const post = (order: unknown): Question => ({ body: JSON.stringify(order), headers: JSON_TYPE });

type Row = readonly [path: string, question: Question | null, status: number, kind: string];

test.each<Row>([
  ['/nowhere', null, 404, 'not_found'],
  ['/nowhere?a=/purge', post({}), 404, 'not_found'],
  ['/explain', null, 400, 'invalid_request'],
  ['/explain?url=https://site.test/&x=1', null, 400, 'invalid_request'],
  ['/purge', post([]), 400, 'invalid_request'],
  ['/purge', { body: '{', headers: JSON_TYPE }, 400, 'invalid_request'],
  [
    '/purge',
    { body: '{}', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    415,
    'no_json',
  ],
  ['/purge', post({ tag: 'x'.repeat(70_000) }), 413, 'too_large'],
  ['/purge', post({ url: 'ftp://site.test/' }), 400, 'invalid_url'],
  ['/purge', post({ pattern: 'news' }), 400, 'invalid_pattern'],
  ['/purge', post({ tag: 'a b' }), 400, 'invalid_tag'],
  ['/purge', post({ host: 'other.test' }), 404, 'unknown_host'],
  ['/purge', post({ undo: 5 }), 409, 'not_undoable'],
  ['/recache', post({}), 400, 'invalid_request'],
  ['/recache', post({ url: 'https://other.test/' }), 422, 'nothing_accepted'],
  ['/warm', post({ urls: 1 }), 400, 'invalid_request'],
  ['/warm', post({ url: 'https://site.test/', tries: 5 }), 400, 'invalid_request'],
  ['/restart', post({}), 409, 'not_restarted'],
  ['/purge', { headers: { origin: 'http://site.test' } }, 401, 'unauthorized'],
])('%s %j: %i %s', async (path, question, status, kind) => {
  const response = await fetch(`http://127.0.0.1:${stage.gateway.adminPort}${path}`, {
    method: question === null ? 'GET' : 'POST',
    ...(question?.body === undefined ? {} : { body: question.body }),
    ...(question?.headers && { headers: question.headers }),
  });
  const body: unknown = await response.json();
  expect([response.status, body]).toMatchObject([
    status,
    { error: { kind, message: expect.stringMatching(/^[^{].{8}/) } },
  ]);
});

const CHANGES = ['/purge', '/recache', '/warm', '/reload', '/restart'];
const READS = ['/health', '/ready', '/metrics', '/explain'];

test.each([
  ...CHANGES.flatMap((path) => [
    [path, 'GET', 'POST'],
    [path, 'DELETE', 'POST'],
  ]),
  ...READS.map((path) => [path, 'POST', 'GET, HEAD']),
  ['/explain?url=https://site.test/', 'PUT', 'GET, HEAD'],
])('%s does not take %s, but %s', async (path, method, allowed) => {
  const url = `http://127.0.0.1:${stage.gateway.adminPort}${path}`;
  const response = await fetch(url, { method });
  expect([response.status, response.headers.get('allow')]).toEqual([405, allowed]);
  expect(await response.json()).toEqual({
    error: { kind: 'method_not_allowed', message: `this address takes ${allowed}` },
  });
});

test('a configuration that is refused says so in that shape too', async () => {
  await stage.gateway.write({ hosts: 'hosts: 1\n' });
  const response = await fetch(`http://127.0.0.1:${stage.gateway.adminPort}/reload`, {
    method: 'POST',
  });
  expect([response.status, await response.json()]).toMatchObject([
    422,
    {
      applied: false,
      diagnostics: [expect.any(String)],
      error: { kind: 'not_applied', message: expect.stringContaining('goes on serving') },
    },
  ]);
});

test('a body that never comes ends after ten seconds, not with the next look at all of them', async () => {
  const head = 'POST /purge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
  const reply = await sendRaw(stage.gateway.adminPort, `${head}Content-Length: 50\r\n\r\n{`, {
    timeoutMs: 18_000,
  });
  expect(reply.text).toContain('408');
}, 20_000);
