// Every page of the zoo, rendered by a real Chromium, against what must come out of it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RenderHead } from '../../src/core/http/render-answer.ts';
import type { RenderRequest } from '../../src/core/http/render-request.ts';
import { openZoo, type Zoo } from '../page-zoo/zoo.ts';
import {
  describeWithChromium,
  type Rendered,
  startTestRenderer,
  type TestRenderer,
  ZOO_HOST,
} from './test-renderer.ts';

interface Expected {
  readonly ask?: Partial<RenderRequest>;
  readonly head?: Partial<RenderHead>;
  readonly has?: readonly (string | RegExp)[];
  readonly hasNot?: readonly (string | RegExp)[];
}

const COMPLETE = { outcome: 'complete', status: 200 } as const;
/** Most of it may be spent waiting for the gate. */
const TIMEOUT = 120_000;
const SHORT = { soft_timeout_ms: 3_000, timeout_ms: 15_000 } as const;

const APPS: Readonly<Record<string, Expected>> = {
  '/app/static': { has: ['<p>made by the server</p>', /^<!DOCTYPE html><html>/] },
  '/app/virtual-dom': {
    has: ['<ul class="items"><li>lion</li><li>tiger</li><li>bear</li></ul>', '<html lang="en">'],
    hasNot: ['<script', 'loading', 'onclick'],
  },
  '/app/reactive': { has: ['count is 3'] },
  '/app/compiled': { has: ['<section><h1>compiled</h1><p>1,234</p></section>'] },
  '/app/elements': {
    has: [
      '<zoo-outer><template shadowrootmode="open"><slot></slot><zoo-inner>',
      '<template shadowrootmode="open"><b>inner shadow</b><style>b { color: teal; }</style>',
      '<i>outer shadow</i></template>light</zoo-outer>',
    ],
    hasNot: ['<script', 'onclick'],
  },
  '/app/hash-router': {
    has: ['route #/home'],
    head: { ...COMPLETE, final_url: `https://${ZOO_HOST}/app/hash-router#/home` },
  },
  '/app/history-router': {
    has: ['route /history/products?page=2'],
    head: { ...COMPLETE, final_url: `https://${ZOO_HOST}/history/products?page=2` },
  },
  '/app/lazy-list': { has: ['item 10', 'item 30'] },
  '/app/huge': { has: ['id="r0"', 'id="r49999"'] },
  '/app/ready-late': { has: ['ready late'] },
  '/app/ready-late-let': { has: ['ready late'] },
  '/app/ready-never': {
    ask: SHORT,
    has: ['never ready'],
    head: { outcome: 'partial', status: 200 },
  },
  '/app/selector': { ask: { selector: '.done' }, has: ['selected'] },
  '/app/additional-wait': { ask: { additional_wait_ms: 2_000 }, has: ['waited for'] },
  '/app/throws': {
    has: ['before'],
    head: { ...COMPLETE, console_errors: ['said so', 'Error: oops'] },
  },
  '/app/device': { has: ['1280|false|en-US|ZooBot/1.0|1<'] },
  '/app/device?mobile': {
    ask: { width: 390, height: 800, locale: 'de-DE', user_agent: 'Pocket/2' },
    has: [/(390|980)\|true\|de-DE\|Pocket\/2\|2</],
  },
  '/app/noscript': {
    has: ['<noscript><p>without &amp; scripts</p></noscript>', '<noscript><p>added</p></noscript>'],
  },
};

const STYLES: Readonly<Record<string, Expected>> = {
  '/style/css-in-js': {
    has: [
      '<style>.inserted { color: red; }</style>',
      '.written { color: blue; }',
      '.more::after { content: "<\\/style>"; }',
      '<style>.adopted { color: green; }</style>',
    ],
  },
  '/style/data-blocks': {
    has: [
      '<script type="application/ld+json">{"@type":"Product"}</script>',
      '<script type="importmap">{"imports":{}}</script>',
      '<script type="text/template"><b>{{name}}</b></script>',
      '{"html":"<\\/script><script>evil()"}',
      '<title>module ran</title>',
      '<link rel="preload" as="image"',
      '<link rel="canonical"',
      '<template id="t"><p>template content</p></template>',
      '<a one="1">a</a><img src="/image.png"><form></form>',
    ],
    hasNot: [
      'type="module"',
      'ecmascript',
      '/script.js',
      'modulepreload',
      /javascript:/i,
      'onerror',
    ],
  },
  '/style/data-blocks?kept': {
    ask: { strip_scripts: false },
    has: ['<script type="module">', 'src="/script.js"', 'modulepreload', 'onclick="x()"'],
  },
  '/style/policy': { has: ['under a policy'] },
};

const NETWORKS: Readonly<Record<string, Expected>> = {
  '/network/socket-and-events': {
    ask: { wait_for: 'networkIdle' },
    has: ['from the socket, from the stream'],
  },
  '/network/long-poll': {
    ask: { wait_for: 'networkIdle', ...SHORT },
    has: ['polling'],
    head: { outcome: 'partial', pending_requests: [`https://${ZOO_HOST}/hang`] },
  },
  '/network/polling': { ask: { wait_for: 'networkIdle', ...SHORT } },
  '/network/never-idle': {
    ask: SHORT,
    has: ['restless'],
    head: { outcome: 'partial', status: 200 },
  },
  '/network/slow-data': { has: ['slow data'] },
  '/network/slow-data?early': { ask: { wait_for: 'load' }, has: ['shell'] },
  '/network/slow-image': { has: ['text'] },
  '/network/slow-image?idle': {
    ask: { wait_for: 'networkIdle', ...SHORT },
    has: ['text'],
    head: { outcome: 'partial', pending_requests: [`https://${ZOO_HOST}/hang`] },
  },
  '/network/slow-script': {
    ask: SHORT,
    has: ['text'],
    head: { outcome: 'partial', pending_requests: [`https://${ZOO_HOST}/hang?script`] },
  },
  '/network/beacon': { ask: { wait_for: 'networkIdle' }, has: ['sent'] },
  '/network/cut': { head: failure('origin_unreachable') },
  '/network/reset': { head: failure('origin_unreachable') },
  '/hang': {
    ask: { soft_timeout_ms: 500, timeout_ms: 3_000 },
    head: failure('origin_timeout'),
  },
};

const LEAVING: Readonly<Record<string, Expected>> = {
  '/leave/301': redirect(301, '/app/static'),
  '/leave/302-absolute': redirect(302, 'https://other.test/x'),
  '/leave/307-latin1': redirect(307, '/caf%E9%20x'),
  '/leave/308-inner': redirect(308, `https://${ZOO_HOST}/app/static`),
  '/leave/endless': redirect(302, '/leave/endless'),
  '/leave/script': redirect(302, `https://${ZOO_HOST}/app/static`),
  '/leave/script-301': redirect(301, `https://${ZOO_HOST}/app/static`),
  '/leave/script-other-host': redirect(302, 'https://other.test/y?z=1#f'),
  '/leave/refresh': redirect(302, `https://${ZOO_HOST}/app/static`),
  '/leave/refresh-later': { has: ['still here'] },
  '/leave/reload-once': { has: ['second time'] },
  '/leave/reload-endless': { head: failure('loop') },
  '/leave/form': { has: ['still here'] },
  '/meta/404': { head: { outcome: 'complete', status: 404 }, has: ['gone'] },
  '/meta/late-404': { head: { outcome: 'complete', status: 404 } },
  '/meta/301': redirect(301, `https://${ZOO_HOST}/%C3%A4`),
  '/meta/301-script': {},
  '/meta/rendertron-410': { head: { outcome: 'complete', status: 410 } },
  '/meta/odd': {},
  '/meta/body': {},
  '/meta/on-500': { head: { outcome: 'complete', status: 500 }, has: ['broken'] },
  '/status/404': { head: { outcome: 'complete', status: 404 }, has: ['shell!'] },
  '/status/503': { head: { outcome: 'complete', status: 503 }, has: ['shell!'] },
  '/status/204': { head: failure('refused') },
  '/status/508': { head: failure('loop') },
  '/file.pdf': { head: failure('refused') },
  '/file.zip': { head: failure('refused') },
};

const HOSTILE: Readonly<Record<string, Expected>> = {
  '/hostile/dialogs': { has: ['went on false null'] },
  '/hostile/downloads': { has: ['nothing saved'] },
  '/hostile/late-download': { has: ['still here'] },
  '/hostile/popups': { has: ['opened'] },
  '/hostile/worker': { has: ['no worker'] },
  '/hostile/busy': {
    ask: { wait_for: 'networkIdle', soft_timeout_ms: 1_000, timeout_ms: 2_500 },
    head: failure('timeout'),
  },
  '/hostile/closes': { has: ['still open'] },
  '/hostile/long-url': {
    has: ['long'],
    head: { ...COMPLETE, final_url: `https://${ZOO_HOST}/hostile/long-url` },
  },
  '/hostile/headers': { has: ['many headers'] },
  '/hostile/overrides': { has: ['true content'], hasNot: ['fake'] },
  '/hostile/blob': { head: failure('refused') },
  '/app/too-large': { ask: { timeout_ms: 50_000 }, head: failure('too_large') },
};

const ENCODINGS: Readonly<Record<string, Expected>> = {
  '/encoding/shift-jis': { has: ['アルク', '<meta charset="utf-8">'], hasNot: ['Shift_JIS'] },
  '/encoding/meta-only': { has: ['Мир', 'content="text/html; charset=utf-8"'] },
  '/encoding/surrogate': { has: ['\ufffd'] },
  '/encoding/xhtml': { has: [/<p>strict<br ?\/?>x<\/p>/] },
};

describeWithChromium('page zoo', () => {
  let zoo: Zoo;
  let renderer: TestRenderer;
  // As many at once as there are tabs: time spent in the queue would count.
  const gate = createGate(2);

  beforeAll(async () => {
    zoo = await openZoo();
    renderer = await startTestRenderer(zoo.url);
  });
  afterAll(async () => {
    await renderer.service.close();
    await zoo.close();
  });

  const groups = { APPS, STYLES, NETWORKS, LEAVING, HOSTILE, ENCODINGS };
  describe.each(Object.entries(groups))('%s', (_name, pages) => {
    test.concurrent.each(Object.entries(pages))(
      '%s',
      { timeout: TIMEOUT },
      async (path, expected) => {
        const ask = (): Promise<Rendered> =>
          renderer.render(`https://${ZOO_HOST}${path}`, expected.ask);
        const { head, html } = await gate(ask);
        expect(head).toMatchObject(expected.head ?? COMPLETE);
        for (const part of expected.has ?? []) expect(html).toMatch(toPattern(part));
        for (const part of expected.hasNot ?? []) expect(html).not.toMatch(toPattern(part));
        if (head.outcome === 'redirect' || head.outcome === 'failed') expect(html).toBe('');
      },
    );
  });
});

/** Lets so many pass at once. */
function createGate(width: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = width;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

function redirect(status: number, location: string): Expected {
  return { head: { outcome: 'redirect', status, location } };
}

function failure(code: string): Partial<RenderHead> {
  return { outcome: 'failed', status: 0, error: expect.objectContaining({ code }) };
}

function toPattern(part: string | RegExp): RegExp {
  return typeof part === 'string' ? new RegExp(part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')) : part;
}
