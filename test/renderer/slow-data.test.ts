// Slow data is waited for, long polls are not, whatever their age alone would say: pages that ask
// for something which comes long after the limit of long polls, or never.
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RenderRequest } from '../../src/core/http/render-request.ts';
import { app } from '../page-zoo/pages/page.ts';
import { openZoo, type Zoo, type ZooPage, type ZooPages } from '../page-zoo/zoo.ts';
import {
  describeWithChromium,
  startTestRenderer,
  type TestRenderer,
  ZOO_HOST,
} from './test-renderer.ts';

/** How long slow data takes: several times what a long poll is waited for. */
const HELD_MS = 3_000;
const PATIENT = { long_poll_after_ms: 500, soft_timeout_ms: 60_000, timeout_ms: 70_000 } as const;
const SHORT = { long_poll_after_ms: 500, soft_timeout_ms: 4_000, timeout_ms: 60_000 } as const;
const TIMEOUT = 120_000;

const CORS = { 'access-control-allow-origin': '*' };
const JSON_HEAD = { ...CORS, 'content-type': 'application/json' };
/** Chromium keeps the beginning of a text back to guess its type, unless it may not. */
const UNGUESSED = { 'x-content-type-options': 'nosniff' };
const TEXT_HEAD = { ...UNGUESSED, 'content-type': 'text/plain' };

const hang: ZooPage = () => undefined;
const later = (work: () => void): void => void setTimeout(work, HELD_MS);
const endWith = (response: ServerResponse, value: unknown): void => {
  response.end(JSON.stringify(value));
};

/** Says at once what has `quick` in its query or body, anything else late. */
const list: ZooPage = (request, response) => {
  const say = (text: string): void => endWith(response.writeHead(200, JSON_HEAD), { text });
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString();
  });
  request.on('end', () => {
    if (`${request.url} ${body}`.includes('quick')) say('quick');
    else later(() => say('the data'));
  });
};

/** The first time broken, then late. */
function createRetried(): ZooPage {
  let asked = 0;
  return (_request, response) => {
    asked += 1;
    if (asked === 1) response.writeHead(503, JSON_HEAD).end('{}');
    else later(() => endWith(response.writeHead(200, JSON_HEAD), { text: 'the data' }));
  };
}

/** The first time at once, then never. */
function createPoll(): ZooPage {
  let asked = 0;
  return (_request, response) => {
    asked += 1;
    if (asked === 1) endWith(response.writeHead(200, JSON_HEAD), { text: 'polled' });
  };
}

/** A head, some of the body, and no end. */
const stream =
  (type: string, chunk: string): ZooPage =>
  (_request, response) => {
    response.writeHead(200, { ...UNGUESSED, 'content-type': type }).write(chunk);
  };

const SHOW = `const show = ({ text }) => { app.textContent = text; };
const read = (answer) => answer.json();`;
const page = (script: string): string => app(`${SHOW}\n${script}`);
const asking = (...questions: string[]): string => {
  const [first, ...others] = questions;
  const rest = others.map((question) => `.then(() => fetch(${question})).then(read).then(show)`);
  return page(`fetch(${first}).then(read).then(show)${rest.join('')}.catch(() => {});`);
};

const SLOW: ZooPages = {
  '/slow/fetch': asking(`'/list'`),
  '/slow/xhr': page(`const x = new XMLHttpRequest(); x.responseType = 'json';
x.onload = () => show(x.response); x.open('GET', '/list'); x.send();`),
  '/slow/elsewhere': asking(`'http://api.other.test/list'`),
  '/slow/next-page': asking(`'/list?page=quick'`, `'/list?page=2'`),
  '/slow/next-query': asking(
    `'/list', { method: 'POST', body: '{ quick }' }`,
    `'/list', { method: 'POST', body: '{ slow }' }`,
  ),
  '/slow/two-at-once': page(`fetch('/list?t=quick'); fetch('/list?t=1').then(read).then(show);`),
  '/slow/retried': page(`fetch('/retried').then(() => fetch('/retried')).then(read).then(show);`),
  '/slow/dripping': asking(`'/dripping'`),
  '/slow/early-head': asking(`'/early-head'`),
};

const POLLS: ZooPages = {
  '/poll/again': asking(
    `'/polled/get?since=1&t=1764500000001'`,
    `'/polled/get?since=1&t=1764500000002'`,
  ),
  '/poll/post': asking(
    `'/polled/post', { method: 'POST', body: 'x' }`,
    `'/polled/post', { method: 'POST', body: 'x' }`,
  ),
  '/poll/unread': page(`let n = 0; const poll = () => fetch('/polled/unread?_=' + (n++)).then(poll);
poll(); show({ text: 'polled' });`),
  '/poll/ndjson': page(`fetch('/ndjson'); show({ text: 'polled' });`),
  '/poll/chat': app('', '<script async src="http://cdn.chat.test/chat.js"></script>'),
};

const NEVER: Readonly<Record<string, readonly [script: string, pending: string]>> = {
  '/never/own': [`fetch('/hang?secret=1')`, `http://${ZOO_HOST}/hang?secret=1`],
  '/never/text': [`fetch('/text')`, `http://${ZOO_HOST}/text`],
  '/never/elsewhere': [`fetch('http://poll.chat.test/hang')`, 'http://poll.chat.test/hang'],
};

const ORIGIN: ZooPages = {
  ...SLOW,
  ...POLLS,
  ...Object.fromEntries(Object.entries(NEVER).map(([path, [script]]) => [path, page(script)])),
  '/list': list,
  '/retried': createRetried(),
  '/dripping': (_request, response) => {
    response.writeHead(200, JSON_HEAD).write('{"text":');
    later(() => response.end('"the data"}'));
  },
  '/early-head': (_request, response) => {
    response.writeHead(200, TEXT_HEAD).flushHeaders();
    later(() => endWith(response, { text: 'the data' }));
  },
  '/polled/get': createPoll(),
  '/polled/post': createPoll(),
  '/polled/unread': createPoll(),
  '/ndjson': stream('application/x-ndjson', '{}\n'),
  '/text': stream('text/plain; charset=utf-8', 'noop'),
  '/hang': hang,
};

const CHAT = `document.querySelector('#app').textContent = 'polled';
fetch('http://poll.chat.test/hang');`;

describeWithChromium('slow data and long polls', () => {
  let zoo: Zoo;
  let renderer: TestRenderer;
  const others = createServer((request, response) => {
    if (request.url === '/chat.js') {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(CHAT);
    } else if (request.url === '/list') {
      later(() => endWith(response.writeHead(200, JSON_HEAD), { text: 'the data' }));
    }
  });

  beforeAll(async () => {
    zoo = await openZoo(ORIGIN);
    await new Promise<void>((resolve) => others.listen(0, '127.0.0.1', resolve));
    // Scripts of others are not run on a secure page, unless they are secure themselves.
    const host = {
      domain: ZOO_HOST,
      origins: [{ url: zoo.url }],
      originHostHeader: null,
      scheme: 'http',
    } as const;
    renderer = await startTestRenderer(zoo.url, {
      findHost: (name) => (name === ZOO_HOST ? host : null),
      connectPublic: async () => connect((others.address() as AddressInfo).port, '127.0.0.1'),
    });
  });
  afterAll(async () => {
    await renderer.service.close();
    await zoo.close();
    others.closeAllConnections();
    others.close();
  });
  const render = (path: string, ask: Partial<RenderRequest>): ReturnType<TestRenderer['render']> =>
    renderer.render(`http://${ZOO_HOST}${path}`, ask);

  describe('slow data is on the page', () => {
    test.concurrent.each(Object.keys(SLOW))('%s', { timeout: TIMEOUT }, async (path) => {
      const { head, html } = await render(path, PATIENT);
      expect(html).toContain('<div id="app">the data</div>');
      expect(head).toMatchObject({ outcome: 'complete', pending_requests: [] });
    });
  });

  describe('a long poll is left under way', () => {
    test.concurrent.each(Object.keys(POLLS))('%s', { timeout: TIMEOUT }, async (path) => {
      const { head, html } = await render(path, { ...PATIENT, wait_for: 'networkIdle' });
      expect(html).toContain('<div id="app">polled</div>');
      expect(head).toMatchObject({ outcome: 'complete', pending_requests: [] });
    });
  });

  describe('what nothing tells from slow data makes a page partial, and is named', () => {
    test.concurrent.each(Object.entries(NEVER))(
      '%s',
      { timeout: TIMEOUT },
      async (path, [, pending]) => {
        const { head } = await render(path, SHORT);
        expect(head).toMatchObject({ outcome: 'partial', pending_requests: [pending] });
      },
    );
    test('a limit that is longer than the render is shortened', { timeout: TIMEOUT }, async () => {
      const ask = { ...SHORT, soft_timeout_ms: 8_000, long_poll_after_ms: 60_000 };
      expect((await render('/poll/ndjson', ask)).head.outcome).toBe('complete');
    });
  });
});
