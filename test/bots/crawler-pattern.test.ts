// The expression by which servers in front tell crawlers from people: it matches all whom pages are
// rendered for, no person, and it stands as it is in the README and in every recipe.
import { RE2JS } from 're2js';
import { describe, expect, test } from 'vitest';
import { buildCrawlerPattern } from '../../src/core/bots/crawler-pattern.ts';
import { indexDimensions } from '../../src/core/routing/match-dimension.ts';
import { runCommand, withFiles } from '../cli/run-command.ts';
import { loadValid, onlyHost } from '../config/helpers.ts';
import { PEOPLE, USER_AGENTS } from '../config/user-agents.ts';
import { findBlocks } from '../docs/markdown.ts';
import { listFiles, readFile } from '../tidy/files.ts';

const host = onlyHost(await loadValid({}));
const BUILT_IN = buildCrawlerPattern([host]);

describe('the built-in dimensions', () => {
  const crawlers = USER_AGENTS.filter(([, dimension]) => dimension !== 'bypass');
  const engines = [
    ['JavaScript', (userAgent: string) => new RegExp(BUILT_IN, 'i').test(userAgent)],
    ['RE2', (userAgent: string) => RE2JS.compile(`(?i)${BUILT_IN}`).test(userAgent)],
  ] as const;

  test.each(engines)('every crawler, and no person: %s', (_name, matches) => {
    expect(crawlers.length).toBeGreaterThan(50);
    expect(crawlers.filter(([userAgent]) => !matches(userAgent))).toEqual([]);
    expect(PEOPLE.length).toBeGreaterThan(15);
    expect(PEOPLE.filter(matches)).toEqual([]);
  });

  test('every name they list, alone and in a browser’s words', () => {
    const names = host.dimensions
      .flatMap(({ matchUserAgent }) => matchUserAgent)
      .flatMap(({ source }) => source.match(/\w[\w!.-]{3,}(?: \w+)*/g) ?? []);
    const find = indexDimensions(host).find;
    const isRendered = (userAgent: string): boolean => {
      const { dimension } = find(userAgent);
      return dimension !== 'block' && dimension.action === 'render';
    };
    const asked = names
      .flatMap((name) => [name, `${name}/1.0`, `Mozilla/5.0 (Linux; Mobile; ${name}/1.0) X`])
      .filter(isRendered);
    expect(asked.length).toBeGreaterThan(300);
    expect(asked.filter((userAgent) => !new RegExp(BUILT_IN, 'i').test(userAgent))).toEqual([]);
  });

  test('nothing in it needs quoting in any file', () => {
    expect(BUILT_IN).toMatch(/^[\w|^.?()[\]-]+$/);
    expect(BUILT_IN.length).toBeLessThan(800);
  });
});

describe('is what the documents say', () => {
  const recipes = listFiles().filter((file) => file.startsWith('config/recipes/'));

  test.each(recipes)('%s', (file) => {
    expect(readFile(file).split(BUILT_IN)).toHaveLength(2);
  });

  test.each(['nginx', 'vcl'])('README, %s', (language) => {
    const [block] = findBlocks(readFile('README.md'), language);
    expect(block?.text).toContain(language === 'vcl' ? `"(?i)${BUILT_IN}"` : `"~*${BUILT_IN}"`);
  });
});

interface Row {
  readonly patterns: readonly string[];
  /** What stands beside the words that are always there; null: everybody is matched. */
  readonly adds: string | null;
  readonly userAgents: readonly string[];
}

const ROWS: readonly Row[] = [
  { patterns: ['*AcmeBot*', 'my crawler'], adds: '', userAgents: ['x acmebot y', 'My Crawler'] },
  { patterns: ['Bot', 'ubot'], adds: '', userAgents: ['bot', 'UBOT'] },
  { patterns: ['*bot/*'], adds: 'bot.', userAgents: ['bot/1', 'cubot/2'] },
  { patterns: ['Acme/1.0'], adds: '^acme.1.0', userAgents: ['acme/1.0'] },
  { patterns: ['~^Acme', '*acme*'], adds: 'acme', userAgents: ['Acme', 'an acme'] },
  { patterns: ['~*(^|[ (])(Foo(-Bar)?|Qux)/'], adds: 'foo-bar.|foo.|qux.', userAgents: ['a qux/'] },
  { patterns: ['~(Mobile|X).*Probe', '*Probe*'], adds: 'probe', userAgents: ['X Probe'] },
  { patterns: [String.raw`~ab+c\.d{2}[.]\d`], adds: 'ab', userAgents: ['abbc.dd.7', 'abc.dd.1'] },
  { patterns: ['~Pro(be)*r?'], adds: 'pro', userAgents: ['Pro', 'Probeber'] },
  { patterns: [String.raw`~\bFetch\b`], adds: 'fetch', userAgents: ['a Fetch'] },
  { patterns: ['~(?i)zebra|yak'], adds: '((?i)zebra|yak)', userAgents: ['yak'] },
  { patterns: [String.raw`~\x41cme`], adds: String.raw`(\x41cme)`, userAgents: ['Acme'] },
  {
    patterns: ['~(a?b?c?d?e?f?g?h?i?j?k?l?)Z'],
    adds: '((a?b?c?d?e?f?g?h?i?j?k?l?)Z)',
    userAgents: ['kZ'],
  },
  { patterns: ['*'], adds: null, userAgents: ['', 'x'] },
  { patterns: ['~.*', 'acme'], adds: null, userAgents: ['', 'x'] },
];

test.each(ROWS)('dimensions of one’s own: $patterns', async ({ patterns, adds, userAgents }) => {
  const list = JSON.stringify(patterns);
  const config = await loadValid({
    'edge-gateway.yaml': `render: {engine: origin}\ndimensions: {d: {id: 5, match_ua: ${list}}}\n`,
  });
  const found = buildCrawlerPattern(config.policies.hosts);
  const words = '(^u?|[^u]|[^c]u)bot|crawl|spider|preview|external|-user';
  expect(found).toBe(adds === null ? '^' : [words, adds].filter((one) => one !== '').join('|'));
  const find = indexDimensions(onlyHost(config)).find;
  for (const userAgent of userAgents) {
    expect(find(userAgent).dimension).toMatchObject({ action: 'render' });
    expect(RE2JS.compile(`(?i)${found}`).test(userAgent)).toBe(true);
  }
});

test('the command prints it, for the hosts that are configured', async () => {
  const files = {
    'edge-gateway.yaml': 'render: {engine: origin}\n',
    'hosts.yaml': `hosts:
  - {id: 1, domain: a.test, dimensions: {d: {id: 5, match_ua: ["*Acme-Probe*"]}}}
  - {id: 2, domain: b.test}
`,
  };
  await withFiles(files, async (folder) => {
    const argv = ['bots', 'pattern', '-c', `${folder}/edge-gateway.yaml`];
    const { status, stdout, stderr } = await runCommand(argv);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^\S+\|acme-probe\|\S+\n$/);
    expect(stdout.replace('acme-probe|', '')).toBe(`${BUILT_IN}\n`);
  });
});

test('whoever has no dimension of their own is rendered for: everybody', async () => {
  const config = await loadValid({
    'edge-gateway.yaml': 'render: {engine: origin}\nunmatched_dimension: desktop\n',
  });
  expect(buildCrawlerPattern(config.policies.hosts)).toBe('^');
});
