// A gateway that has stored some pages of the demo site, for commands that look at what is stored.
import { readdirSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type DemoSite, startDemoSite } from '../demo-site/site.ts';
import { startTestGateway, type TestGateway } from '../helpers/gateway.ts';
import { waitUntil } from '../helpers/wait-until.ts';

export interface StoredPages {
  readonly site: DemoSite;
  readonly gateway: TestGateway;
  /** Options that name its configuration. */
  readonly config: readonly [string, string];
  readonly close: () => Promise<void>;
}

const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
const GOOGLEBOT_MOBILE = `Mozilla/5.0 (Linux; Android 6.0.1) Mobile Safari/537.36 (compatible; Googlebot/2.1)`;

/** Paths that are stored: the first in two dimensions. */
export const STORED_PATHS = ['/products?color=blue', '/products?color=red', '/blog'] as const;

/** Starts a gateway for `shop.example` and asks it for the pages. */
export async function storePages(): Promise<StoredPages> {
  const site = await startDemoSite();
  const gateway = await startTestGateway({
    gateway: 'render: { engine: origin }\nlog: { level: silent }\n',
    hosts: `hosts:
  - id: 1
    domain: [shop.example, www.shop.example]
    origin: ${site.url}
    dimensions:
      desktop: { id: 1, match_ua: [$SearchCrawlers] }
      mobile: { id: 2, match_ua: [$SearchCrawlersMobile] }
      scrapers: { id: 3, action: block, match_ua: ["*EvilScraper*"] }
    normalization: { canonical_redirect: 308, host_aliases: { www: strip } }
    url_rules:
      - { id: basket, match: /cart/*, action: bypass }
      - { id: old, match: /old, action: status, status: { code: 301, headers: { Location: /new } } }
      - { match: /gone/*, action: status_410 }
  - { id: 2, domain: empty.example, origin: ${site.url} }
`,
  });
  for (const path of STORED_PATHS) await ask(gateway.port, path, GOOGLEBOT);
  await ask(gateway.port, STORED_PATHS[0], GOOGLEBOT_MOBILE);
  // A command in this very process would take what is still being written for a dead one's.
  const pages = join(gateway.folder, 'data', 'pages');
  await waitUntil('all codings are stored', () => {
    const names = readdirSync(pages, { recursive: true, encoding: 'utf8' });
    const coded = names.filter((name) => /\.html\.(?:br|gz)$/.test(name));
    return (
      coded.length === 2 * (STORED_PATHS.length + 1) && !names.some((name) => /tmp$/.test(name))
    );
  });
  return {
    site,
    gateway,
    config: ['-c', join(gateway.folder, 'edge-gateway.yaml')],
    close: async () => {
      await gateway.close();
      await site.close();
    },
  };
}

/** Asks as a crawler; answers what `X-Render-Cache` says. */
export async function ask(
  port: number,
  path: string,
  userAgent = GOOGLEBOT,
): Promise<string | undefined> {
  const headers = { host: 'shop.example', 'user-agent': userAgent };
  return await new Promise((resolve, reject) => {
    const request = get({ port, host: '127.0.0.1', path, headers, agent: false }, (response) => {
      const verdict = response.headers['x-render-cache'];
      text(response).then(() => resolve(verdict?.toString()), reject);
    });
    request.once('error', reject);
  });
}
