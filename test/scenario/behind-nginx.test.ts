// A real cache in front, set up as the README says: people's HTML and crawlers' pages are kept, and
// nobody ever gets the other's.
import { expect, onTestFinished, test } from 'vitest';
import { findBlocks } from '../docs/markdown.ts';
import { describeWithNginx, startNginx } from '../helpers/nginx.ts';
import { readFile } from '../tidy/files.ts';
import { openSite } from './downstream-stage.ts';
import { ask, BOT, HUMAN } from './stage.ts';

const OTHER_HUMAN = HUMAN.replace('142', '143');
/** A crawler for whom nothing is rendered. */
const AHREFS = 'Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)';
const CLASS_IN_KEY =
  findBlocks(readFile('README.md'), 'nginx').find(({ text }) => text.includes('proxy_cache_key'))
    ?.text ?? '';

/** Whether nginx keeps what a crawler gets, and gives one browser what another got. */
const ROWS = [
  { mode: 'private', key: 'by class', set: CLASS_IN_KEY, keepsPages: false, joinsPeople: true },
  { mode: 'origin', key: 'by class', set: CLASS_IN_KEY, keepsPages: true, joinsPeople: true },
  { mode: 'vary', key: 'as it is', set: '', keepsPages: true, joinsPeople: false },
  { mode: 'vary', key: 'by class', set: CLASS_IN_KEY, keepsPages: true, joinsPeople: false },
] as const;

describeWithNginx('a cache in front', () => {
  test.each(ROWS)('downstream_cache: $mode, key of nginx: $key', async (row) => {
    const stage = await openSite(row.mode, '');
    onTestFinished(stage.close);
    const nginx = await startNginx((port) => serverOf(port, stage.gateway.port, row.set));
    onTestFinished(nginx.stop);
    const got = async (userAgent: string): Promise<string> => {
      const reply = await ask(nginx.port, '/broken', { userAgent });
      return `${reply.header('X-Front')} ${reply.body}`;
    };
    const [page, again] = ['MISS rendered', row.keepsPages ? 'HIT rendered' : 'MISS rendered'];

    expect(await got(BOT)).toBe('MISS from the origin');
    expect(await got(HUMAN)).toBe('MISS from the origin');
    expect(await got(HUMAN)).toBe('HIT from the origin');
    expect(await got(OTHER_HUMAN)).toBe(`${row.joinsPeople ? 'HIT' : 'MISS'} from the origin`);
    expect(await got(AHREFS)).toBe('MISS from the origin');
    expect(await got(AHREFS)).toBe('HIT from the origin');
    // What the crawler got in place of its page has not been kept.
    stage.renderer.script('https://site.test/broken', {
      kind: 'page',
      html: 'rendered',
      head: KEPT,
    });
    stage.clock.advance(60_000);
    expect(await got(BOT)).toBe(page);
    expect(await got(BOT)).toBe(again);
    expect(await got(HUMAN)).toMatch(/ from the origin$/);
  });
});

const KEPT = { headers: [['Cache-Control', 'public, max-age=600']] } as const;

function serverOf(port: number, gatewayPort: number, set: string): string {
  return `proxy_cache_path cache keys_zone=front:1m;
  ${set}
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://127.0.0.1:${gatewayPort};
      proxy_http_version 1.1;
      proxy_set_header Host site.test;
      proxy_cache front;
      add_header X-Front $upstream_cache_status;
    }
  }`;
}
