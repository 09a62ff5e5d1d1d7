// The render service's HTTP: who may ask, what is answered to whom, what reaches the origin and what
// doesn't, and what the four endpoints say.
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRenderService } from '../../src/renderer/server/start-render-service.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { openZoo, type Zoo } from '../page-zoo/zoo.ts';
import {
  buildRequest,
  describeWithChromium,
  readAnswer,
  startTestRenderer,
  type TestRenderer,
  ZOO_HOST,
} from './test-renderer.ts';

const TOKEN = 'a-token-of-the-tests';

describeWithChromium('contract', () => {
  let zoo: Zoo;
  let renderer: TestRenderer;
  const outside: string[] = [];
  const cdn = createServer((request, response) => {
    outside.push(JSON.stringify([request.url, request.headers]));
    response.writeHead(200, { 'access-control-allow-origin': '*' }).end('cdn');
  });

  beforeAll(async () => {
    zoo = await openZoo();
    await new Promise<void>((resolve) => cdn.listen(0, '127.0.0.1', resolve));
    renderer = await startTestRenderer(zoo.url, {
      token: TOKEN,
      pseudonym: 'gateway-7',
      connectPublic: async () => connect((cdn.address() as AddressInfo).port, '127.0.0.1'),
    });
  });
  afterAll(async () => {
    await renderer.service.close();
    await zoo.close();
    cdn.close();
  });
  const authorization = `Bearer ${TOKEN}`;
  const render = async (path: string, changes = {}): ReturnType<TestRenderer['render']> =>
    readAnswer(
      await renderer.post(buildRequest(`https://${ZOO_HOST}${path}`, changes), {
        headers: { authorization },
      }),
    );

  describe('who may ask', () => {
    test.each([
      ['no token', {}],
      ['another token', { authorization: 'Bearer other' }],
      ['a token of another length', { authorization: `Bearer ${TOKEN}x` }],
      ['another scheme', { authorization: `Basic ${TOKEN}` }],
    ])('%s: 401', async (_name, headers) => {
      const question = buildRequest(`https://${ZOO_HOST}/app/static`);
      const answer = await renderer.post(question, { headers });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('edge-gateway-render')).toBe(null);
    });
    test('a listener that others can reach needs a token', async () => {
      const open = { listen: { host: '0.0.0.0', port: 0 }, findHost: () => null };
      await expect(startRenderService(open)).rejects.toThrow('token');
    });
  });

  describe('what is asked', () => {
    test.each([
      ['no object', 'x', 400],
      ['no URL', {}, 400],
      ['another scheme', buildRequest('file:///etc/passwd'), 400],
      ['too much', { url: 'x'.repeat(2_000_000) }, 413],
    ])('%s', async (_name, body, status) => {
      const answer = await renderer.post(body, { headers: { authorization } });
      expect(answer.status).toBe(status);
    });
    test.each([
      ['GET', '/render', 404],
      ['POST', '/', 404],
      ['GET', '/json/version', 404],
      ['GET', '/health', 200],
      ['GET', '/metrics', 200],
    ])('%s %s: %i', async (method, path, status) => {
      const answer = await fetch(`${renderer.service.address}${path}`, { method });
      expect(answer.status).toBe(status);
    });
    test('ready once something was rendered, and the numbers say so', async () => {
      await waitUntil('it is ready', async () => {
        return (await fetch(`${renderer.service.address}/ready`)).status === 200;
      });
      const text = await (await fetch(`${renderer.service.address}/metrics`)).text();
      expect(text).toMatch(/renders_total\{outcome="complete"\} [1-9]/);
      expect(text).toMatch(/browser_rss_bytes [1-9]\d{7,}/);
      expect(text).toMatch(
        /^# TYPE edge_gateway_renderer_tabs gauge\nedge_gateway_renderer_tabs 2$/m,
      );
    });
  });

  describe('what reaches whom', () => {
    test('the origin knows the public site and the loop marks, nothing of a client', async () => {
      zoo.visits.length = 0;
      const headers = [
        ['x-wanted', 'yes'],
        ['cookie', 'sid=1'],
        ['authorization', 'Basic eA=='],
        ['x-forwarded-for', '203.0.113.9'],
        ['via', '1.1 other'],
      ];
      await render('/app/virtual-dom', { headers, locale: 'fr-FR' });
      const [page, data] = zoo.visits.filter(({ url }) => url !== '/favicon.ico');
      expect(page).toMatchObject({
        url: '/app/virtual-dom',
        headers: {
          host: ZOO_HOST,
          'x-wanted': 'yes',
          'user-agent': 'ZooBot/1.0',
          'accept-language': expect.stringMatching(/^fr-FR/),
          'x-forwarded-proto': 'https',
          'x-forwarded-host': ZOO_HOST,
          'x-edge-render': '1',
          'x-prerender': '1',
          via: '1.1 gateway-7',
        },
      });
      expect(data).toMatchObject({ url: '/api/items', headers: { 'x-edge-render': '1' } });
      expect(data?.headers['x-wanted']).toBe(undefined);
      for (const name of ['cookie', 'authorization', 'x-forwarded-for', 'proxy-connection']) {
        expect(page?.headers[name]).toBe(undefined);
      }
    });
    test('a third party sees no mark of ours', async () => {
      // Not over https, where a page may not fetch from http.
      const question = buildRequest(`http://${ZOO_HOST}/network/third-party`, {
        headers: [['x-wanted', 'yes']],
      });
      const { html } = await readAnswer(
        await renderer.post(question, { headers: { authorization } }),
      );
      expect(html).toContain('fetched');
      expect(outside).toHaveLength(1);
      expect(outside[0]).not.toMatch(/edge|prerender|gateway|x-wanted|forwarded/i);
    });
    test('requests that the policy does not want are not made', async () => {
      zoo.visits.length = 0;
      const { html } = await render('/network/blocked', {
        blocked_resource_types: ['image'],
        blocked_patterns: ['*tracker.test*', '*/tracking/*', '*network/blocked*'],
      });
      expect(html).toContain('loaded blocked blocked');
      expect(zoo.visits.map(({ url }) => url)).toEqual(
        expect.arrayContaining(['/network/blocked', '/script.js?via=tracker.test']),
      );
      expect(zoo.visits.map(({ url }) => url)).not.toContain('/image.png');
      expect(outside).toHaveLength(1);
    });
    test('a page sees nothing of the one before (J4)', async () => {
      expect((await render('/hostile/store')).html).toContain('stored');
      expect((await render('/hostile/look')).html).toContain('<div id="app">|0|0|0</div>');
    });
    test('cookies of the render stay with it; other headers come along', async () => {
      const { head } = await render('/status/404');
      expect(head.headers).toContainEqual(['x-zoo', 'yes']);
      expect(head.headers.map(([name]) => name.toLowerCase())).not.toContain('set-cookie');
    });
    test('complaints of a page are bounded', async () => {
      const { head } = await render('/hostile/noisy');
      expect(head.console_errors).toHaveLength(50);
      expect(Math.max(...head.console_errors.map((text) => text.length))).toBe(500);
    });
    test('a header by meta', async () => {
      const { head } = await render('/meta/header');
      expect(head.headers).toContainEqual(['x-robots-tag', 'noindex']);
    });
    test('popups and downloads leave nothing behind', async () => {
      await render('/hostile/popups');
      await render('/hostile/downloads');
      const folders = (await readdir(tmpdir())).filter((name) => /playwright/.test(name));
      expect(folders).toEqual([]);
    });
    test.each([
      ['1', '2'],
      ['2', '3'],
    ])('a render inside %s render says so', async (hops, next) => {
      zoo.visits.length = 0;
      await render('/app/static', { headers: [['x-edge-render', hops]] });
      expect(zoo.visits[0]?.headers['x-edge-render']).toBe(next);
    });
    test('the fourth render of a chain is a loop', async () => {
      const { head } = await render('/app/static', { headers: [['x-edge-render', '3']] });
      expect(head.error?.code).toBe('loop');
    });
    test('an origin that is not there', async () => {
      const gone = await startTestRenderer('http://127.0.0.1:9');
      const { head } = await gone.render(`https://${ZOO_HOST}/`);
      await gone.service.close();
      expect(head).toMatchObject({ outcome: 'failed', error: { code: 'origin_unreachable' } });
    });
  });

  test('a socket file: private, replaced when dead, no token needed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'render-socket-'));
    const path = join(folder, 'render.sock');
    const first = await startTestRenderer(zoo.url, { listen: { path } });
    expect(first.service.address).toBe(path);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const status = await new Promise((resolve, reject) => {
      const question = buildRequest(`https://${ZOO_HOST}/app/static`);
      const options = { socketPath: path, path: '/render', method: 'POST' };
      const asking = httpRequest(options, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asking.on('error', reject);
      asking.end(JSON.stringify(question));
    });
    expect(status).toBe(200);
    await expect(startTestRenderer(zoo.url, { listen: { path } })).rejects.toThrow('EADDRINUSE');
    await first.service.close();
    await rm(folder, { recursive: true });
  });
});
