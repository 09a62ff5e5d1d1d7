// A host as they are: some kinds of clients, some rules of every sort, of which most match nothing
// that is asked for.
import type { ConfigReader } from '../../src/config/config-reader.ts';
import { ok } from '../../src/core/result.ts';

const RULES = [
  ...['/cart', '/account/*', '/admin/*', '/checkout/*', '/api/*'].map(
    (match) => `{ match: "${match}", action: bypass }`,
  ),
  ...['/shoes/*', '/news/*', '/blog/*', '/sale/*', '/docs/*/print'].map(
    (match) => `{ match: "${match}", action: render }`,
  ),
  ...['*.php', '*/feed', '/old/*', '/tmp', '/internal/*'].map(
    (match) => `{ match: "${match}", action: status_410 }`,
  ),
  '{ match: "/search", match_query: { q: "*" }, action: render }',
  '{ match: "/find", match_query: { type: [product, page] }, action: bypass }',
  '{ match: "/form/*", methods: [POST], action: bypass }',
  '{ match: "~^/p/[0-9]+$", action: render }',
  '{ match: "~*/print$", action: bypass }',
];

const DIMENSIONS = `
      desktop: { id: 1, width: 1920, height: 1080, match_ua: [$SearchCrawlers, $AICrawlers] }
      mobile: { id: 2, width: 412, height: 915, match_ua: [$SearchCrawlersMobile] }
      scrapers: { id: 3, action: block, match_ua: ["*EvilScraper*", "~*^python-requests/"] }`;

type Text = Awaited<ReturnType<ConfigReader['readText']>>;
type Names = Awaited<ReturnType<ConfigReader['findHostFiles']>>;

/** One host, 3 dimensions and 20 rules, as `loadConfig` reads them. */
export const HOST_FILES = {
  readText: async (path: string): Promise<Text> =>
    ok(path.endsWith(HOSTS_FILE) ? HOST_YAML : GATEWAY_YAML),
  findHostFiles: async (): Promise<Names> => ok([HOSTS_FILE]),
};

const HOSTS_FILE = 'hosts.yaml';
const GATEWAY_YAML = 'render: { engine: origin }';
const HOST_YAML = `
hosts:
  - id: 1
    domain: shop.example
    origin: http://127.0.0.1:3000
    dimensions:${DIMENSIONS}
    unmatched_dimension: bypass
    url_rules:
${RULES.map((rule) => `      - ${rule}`).join('\n')}
`;

export const CLIENTS = [
  ['a crawler', 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'],
  [
    'a person',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  ],
] as const;
