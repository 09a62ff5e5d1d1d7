// The shipped table: every User-Agent names one crawler of one kind, and the table itself is sound.
import { describe, expect, test } from 'vitest';
import { readCrawlers, readTable } from '../../src/config/read-crawlers.ts';
import { indexCrawlers } from '../../src/core/bots/find-crawler.ts';
import { USER_AGENTS } from '../config/user-agents.ts';

const table = readCrawlers();
const { find } = indexCrawlers(table.crawlers);
const MESSAGES =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0';

// User-Agent → owner, name, kind.
const NAMED: readonly (readonly [string, string])[] = [
  [
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'google Googlebot search',
  ],
  ['mozilla/5.0 (COMPATIBLE; GOOGLEBOT/2.1)', 'google Googlebot search'],
  ['Googlebot-Image/1.0', 'google Googlebot-Image search'],
  ['GoogleOther', 'google GoogleOther tool'],
  ['AdsBot-Google (+http://www.google.com/adsbot.html)', 'google AdsBot-Google ads'],
  [
    'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
    'microsoft bingbot search',
  ],
  [
    'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5',
    'microsoft_other SkypeUriPreview preview',
  ],
  [
    'Mozilla/5.0 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)',
    'apple Applebot search',
  ],
  ['Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)', 'yandex YandexBot search'],
  [
    'Mozilla/5.0 (compatible; YandexNew/1.0; +http://yandex.com/bots)',
    'yandex yandex.com/bots search',
  ],
  ['Mozilla/5.0 (compatible; Baiduspider-render/2.0)', 'baidu Baiduspider-render search'],
  [
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'meta facebookexternalhit preview',
  ],
  [
    'meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)',
    'meta meta-externalagent ai_train',
  ],
  [MESSAGES, 'apple_messages facebookexternalhit/1.1 Facebot Twitterbot/1.0 preview'],
  ['Twitterbot/1.0', 'other_previews Twitterbot preview'],
  ['TelegramBot (like TwitterBot)', 'telegram TelegramBot preview'],
  [
    'LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient)',
    'other_previews LinkedInBot preview',
  ],
  [
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'other_previews Slackbot* preview',
  ],
  ['Slackbot 1.0 (+https://api.slack.com/robots)', 'other_previews Slackbot* preview'],
  [
    'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
    'other_previews Discordbot preview',
  ],
  ['WhatsApp/2.23.20.0 A', 'meta ^WhatsApp preview'],
  ['Pinterest/0.2 (+http://www.pinterest.com/bot.html)', 'pinterest pinterest.com/bot preview'],
  ['Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)', 'openai GPTBot ai_train'],
  ['Mozilla/5.0 (compatible; OAI-SearchBot/1.0)', 'openai OAI-SearchBot ai_search'],
  [
    'Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)',
    'anthropic ClaudeBot ai_train',
  ],
  ['Mozilla/5.0 (compatible; Claude-User/1.0)', 'anthropic Claude-User ai_user'],
  [
    'Mozilla/5.0 (compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)',
    'perplexity PerplexityBot ai_search',
  ],
  ['CCBot/2.0 (https://commoncrawl.org/faq/)', 'common_crawl CCBot archive'],
  ['Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)', 'other_seo AhrefsBot seo'],
  ['Mozilla/5.0 (compatible; SemrushBot-SI/0.97)', 'other_seo SemrushBot* seo'],
];

const NOBODY: readonly string[] = [
  '',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 Chrome/142.0 WhatsApp/2.2 Safari/537.36',
  'NotGooglebot/2.1',
  'xGooglebot/2.1',
  'Googlebots/2.1',
  'Mozilla/5.0 (Linux; Android 9; CUBOT_X19) AppleWebKit/537.36',
  'Mozilla/5.0 YaBrowser/24.1 Safari/537.36',
  'curl/8.5.0',
  // A name beyond the cap counts for nothing.
  `${'x'.repeat(1_024)} Googlebot/2.1`,
];

describe('a User-Agent names', () => {
  test.each(NAMED)('%s', (userAgent, expected) => {
    const found = find(userAgent);
    expect(`${found?.group.name} ${found?.token} ${found?.kind}`).toBe(expected);
    // The same from the memo.
    expect(find(userAgent)).toBe(found);
  });

  test.each(NOBODY)('nobody: %s', (userAgent) => {
    expect(find(userAgent)).toBeNull();
  });

  test('somebody in linear time, whatever it repeats', () => {
    const startedAt = performance.now();
    for (let round = 0; round < 100; round += 1) find(`${round}${'slackbotgooglebot'.repeat(60)}`);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});

describe('the table', () => {
  test('is dated', () => {
    expect(table.checkedOn).toMatch(/^20\d\d-\d\d-\d\d$/);
  });

  test('knows every crawler that the built-in dimensions render for', () => {
    const rendered = USER_AGENTS.filter(([, dimension]) => dimension !== 'bypass');
    expect(rendered.length).toBeGreaterThan(50);
    expect(rendered.filter(([userAgent]) => find(userAgent) === null)).toEqual([]);
  });

  test('names each crawler once', () => {
    const tokens = table.crawlers.map(({ token }) => token.toLowerCase());
    expect(tokens.filter((token, index) => tokens.indexOf(token) !== index)).toEqual([]);
  });

  test('has lists by https only, with names that can be file names, each once', () => {
    const lists = table.groups.flatMap((group) => group.lists);
    expect(lists.length).toBeGreaterThan(10);
    expect(lists.filter(({ url }) => !url.startsWith('https://'))).toEqual([]);
    const names = lists.map(({ name }) => name);
    expect(names.filter((name) => !/^[a-z0-9-]+$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  test('promises reverse names on a label boundary below a registered domain', () => {
    const names = table.groups.flatMap(({ hostNames }) => hostNames.map(({ source }) => source));
    expect(names.length).toBeGreaterThan(10);
    const loose = names.filter((name) => !/^[a-z-]*\*(\.[a-z0-9-]+){2,}$/.test(name));
    expect(loose).toEqual([]);
  });

  test('is refused with a mistake in it', () => {
    const bad =
      'checked: "2026-11-30"\nrobots_only: []\nowners: { a: { crawlers: { nope: [A] } } }\n';
    expect(() => readTable(bad)).toThrow(/owners\.yaml:3:.*nope/);
  });
});
