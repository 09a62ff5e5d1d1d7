// A real nginx in front of the site, with our recipe as it is shipped and with one of the reference
// engine's shape: its unencoded `url=` loses no parameter here.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWithNginx, type Nginx, startNginx } from '../helpers/nginx.ts';
import { ask, askedFor, HUMAN, page, type Question } from '../scenario/stage.ts';
import { KEY, openPullStage, type PullStage } from './pull-stage.ts';

interface Places {
  readonly port: number;
  readonly site: string;
  readonly gateway: string;
}

const RECIPE = readFileSync(
  fileURLToPath(new URL('../../config/recipes/nginx.conf', import.meta.url)),
  'utf8',
);

/** The recipe with the addresses, name and key of the test: what its head says is ours to change. */
function ourRecipe({ port, site, gateway }: Places, key = KEY): string {
  return RECIPE.replace('listen 80;', `listen 127.0.0.1:${port};`)
    .replace('server_name example.com;', 'server_name site.test;')
    .replace('server 127.0.0.1:3000;', `server ${site};`)
    .replace('server 127.0.0.1:8081;', `server ${gateway};`)
    .replace('"change-me"', `"${key}"`);
}

/** Three maps, a jump by 418 and a bare `url=`, as its documentation has it. */
function referenceShape({ port, site, gateway }: Places): string {
  return `
    map $http_user_agent $crawler { default 0; "~*bot" 1; "~*crawl" 1; }
    map $uri $not_static { default $crawler; "~*\\.(css|js|png|xml)$" 0; }
    map $http_x_edge_render $should_render { default $not_static; "~." 0; }
    upstream backend { server ${site}; }
    upstream rendergw { server ${gateway}; }
    server {
      listen 127.0.0.1:${port};
      server_name site.test;
      location / {
        error_page 418 = @edge_render;
        if ($should_render = 1) { return 418; }
        proxy_pass http://backend;
        proxy_set_header Host $host;
      }
      location @edge_render {
        internal;
        proxy_pass http://rendergw/render?url=$scheme://$host$request_uri;
        proxy_set_header X-Render-Key "${KEY}";
        proxy_set_header User-Agent $http_user_agent;
        proxy_set_header X-Real-IP $remote_addr;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_set_header X-Request-ID $request_id;
      }
    }`;
}

describeWithNginx('in front of the site', () => {
  describe.each([
    ['our recipe', ourRecipe],
    ['the reference engine’s shape', referenceShape],
  ])('%s', (_name, recipe) => {
    let stage: PullStage;
    let nginx: Nginx;
    beforeAll(async () => {
      stage = await openPullStage({
        origin: ({ target }) => page(`site ${target}`),
        host: `render_key: ${KEY}\nurl_rules: [{match: /account/*, action: bypass}]\n`,
      });
      nginx = await startNginx((port) =>
        recipe({
          port,
          site: stage.origin.url.slice('http://'.length),
          gateway: `127.0.0.1:${stage.pullPort}`,
        }),
      );
    });
    afterAll(async () => {
      await nginx.stop();
      await stage.close();
    });
    const get = (target: string, question?: Question) => ask(nginx.port, target, question);

    it.each([
      ['/shop?b=2&a=1', 'https://site.test/shop?a=1&b=2'],
      ['/s?q=a%26b%23c%2Bd&r=1', 'https://site.test/s?q=a%26b%23c%2Bd&r=1'],
      ['/a%2Fb?x=1?y=2', 'https://site.test/a%2Fb?x=1%3Fy%3D2'],
      ['/p?url=https://x.test/?a&b', 'https://site.test/p?b&url=https%3A%2F%2Fx.test%2F%3Fa'],
    ])('a crawler gets the page of %s, the second time from the cache', async (target, url) => {
      const first = await get(target);
      expect([first.status, first.header('X-Render-Source')]).toEqual([200, 'rendered']);
      expect(first.header('X-Processed-URL')).toBe(url);
      expect((await get(target)).header('X-Render-Source')).toBe('cache');
    });

    it('redirects and statuses come through', async () => {
      const { script } = stage.renderer;
      script('https://site.test/old', { kind: 'redirect', status: 301, location: '/new' });
      const moved = await get('/old');
      expect([moved.status, moved.header('Location')]).toEqual([
        301,
        expect.stringMatching(/\/new$/),
      ]);
      script('https://site.test/gone', { kind: 'page', html: 'gone', head: { status: 404 } });
      expect((await get('/gone')).status).toBe(404);
    });

    it.each<[string, string, Question]>([
      ['people', '/shop?b=2&a=1', { userAgent: HUMAN }],
      ['a file', '/app.js?v=1', {}],
      ['a render’s own request', '/shop?b=2&a=1', { headers: ['X-Edge-Render: 1'] }],
      ['a page the gateway passes on', '/account/me?b=2&a=1', {}],
    ])('%s: the site answers', async (_what, target, question) => {
      expect((await get(target, question)).body).toBe(`site ${target}`);
      expect(askedFor(stage.origin).at(-1)).toBe(`GET ${target}`);
    });
  });

  it('our recipe goes round by the site when the gateway has no answer', async () => {
    const stage = await openPullStage({ origin: ({ target }) => page(`site ${target}`) });
    const site = stage.origin.url.slice('http://'.length);
    const gateway = `127.0.0.1:${stage.pullPort}`;
    const wrongKey = await startNginx((port) => ourRecipe({ port, site, gateway }, 'wrong'));
    expect((await ask(wrongKey.port, '/a?b=1&c=2')).body).toBe('site /a?b=1&c=2');
    await wrongKey.stop();
    const nginx = await startNginx((port) => ourRecipe({ port, site, gateway }));
    expect((await ask(nginx.port, '/a')).header('X-Render-Source')).toBe('rendered');
    await stage.gateway.close();
    expect((await ask(nginx.port, '/a?b=1&c=2')).body).toBe('site /a?b=1&c=2');
    await nginx.stop();
    await stage.renderer.close();
    await stage.origin.close();
  });
});
