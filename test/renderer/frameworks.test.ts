// Real applications by React, Vue, Svelte and Lit, rendered by a real Chromium: what comes out has
// their content and their styles, and none of their scripts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildFrameworks } from '../page-zoo/frameworks/build-frameworks.ts';
import { openZoo, type Zoo } from '../page-zoo/zoo.ts';
import {
  describeWithChromium,
  startTestRenderer,
  type TestRenderer,
  ZOO_HOST,
} from './test-renderer.ts';

interface Expected {
  readonly list: readonly RegExp[];
  readonly animal: readonly RegExp[];
  /** Where the list's title is the application's. */
  readonly title: string;
}

const ASK = { wait_for: 'networkIdle', timeout_ms: 60_000, soft_timeout_ms: 50_000 } as const;
const TIMEOUT = { timeout: 60_000 };
const SETUP_MS = 60_000;

const FRAMEWORKS: Readonly<Record<string, Expected>> = {
  react: {
    title: 'Animals by React',
    list: [
      /<style data-href="animals" data-precedence="default">\.animals { color: teal; }<\/style>/,
      listOf('<ul class="animals">', 'react'),
      /<p>quite a few<\/p>/,
    ],
    animal: [/<main><h1>tiger<\/h1><a href="\/framework\/react\/animals">back<\/a><\/main>/],
  },
  vue: {
    title: 'Animals by Vue',
    list: [
      /<style>\.animals { color: teal; }<\/style>.*<\/head>/s,
      listOf('<ul class="animals many">', 'vue'),
      /<p>quite a few<\/p>/,
    ],
    animal: [/<main><h1>tiger<\/h1><a href="\/framework\/vue\/animals">back<\/a><\/main>/],
  },
  svelte: {
    title: 'Animals by Svelte',
    list: [
      /<style id="(svelte-\w+)">\s*\.animals\.\1 {\s*color: ?teal;\s*}\s*<\/style>.*<ul class="animals \1">/s,
      listOf('<ul class="animals svelte-\\w+">', 'svelte'),
      /<p>quite a few<\/p>/,
    ],
    animal: [/<main><h1>tiger<\/h1> <a href="\/framework\/svelte\/animals">back<\/a>/],
  },
  lit: {
    title: 'zoo',
    list: [
      /<animal-pages><template shadowrootmode="open">.*<p>quite a few<\/p>.*<ul class="animals">/s,
      /<animal-link><template shadowrootmode="open">.*<a href="\/framework\/lit\/animals\/lion">/s,
      /<slot><\/slot><\/a>.*<style>a { color: teal; }<\/style><\/template>(<!--.*?-->)*lion/s,
      /<style>:host { display: block; }\s*ul { list-style: [^}]*none[^}]*}<\/style><\/template>/,
    ],
    animal: [/<h1>(<!--.*?-->)*tiger(<!--.*?-->)*<\/h1>/, /back<\/animal-link>/],
  },
};

describeWithChromium('frameworks', () => {
  let zoo: Zoo;
  let renderer: TestRenderer;

  beforeAll(async () => {
    zoo = await openZoo(await buildFrameworks());
    renderer = await startTestRenderer(zoo.url);
  }, SETUP_MS);
  afterAll(async () => {
    await renderer.service.close();
    await zoo.close();
  });

  async function capture(path: string): Promise<{ readonly html: string; readonly url: string }> {
    const { head, html } = await renderer.render(`https://${ZOO_HOST}/framework/${path}`, ASK);
    expect(head).toMatchObject({ outcome: 'complete', status: 200, console_errors: [] });
    expect(html).not.toMatch(/<script|modulepreload|\son\w+=|loading/);
    return { html, url: head.final_url ?? '' };
  }

  describe.each(Object.entries(FRAMEWORKS))('%s', (name, { list, animal, title }) => {
    test('the home page, which goes on to the list', TIMEOUT, async () => {
      const { html, url } = await capture(name);
      expect(url).toBe(`https://${ZOO_HOST}/framework/${name}/animals?page=1`);
      expect(html).toContain(`<title>${title}</title>`);
      for (const part of list) expect(html).toMatch(part);
    });

    test('one animal, by its own address', TIMEOUT, async () => {
      const { html } = await capture(`${name}/animals/tiger`);
      for (const part of animal) expect(html).toMatch(part);
      expect(html).not.toContain('lion');
    });
  });
});

function listOf(start: string, framework: string): RegExp {
  const items = ['lion', 'tiger', 'bear'].map(
    (name) => `<li><a href="/framework/${framework}/animals/${name}">${name}</a></li>`,
  );
  return new RegExp(`${start}${items.join('')}</ul>`);
}
