// The real prerender-node middleware in front of a real Express site, set up as in our recipe: its
// pages come from our endpoint.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Request, type Response } from 'express';
import prerender from 'prerender-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../helpers/gateway.ts';
import { startRenderService, type TestRenderService } from '../helpers/render-service.ts';
import { ask, HUMAN, type Question } from '../scenario/stage.ts';
import { readFile } from '../tidy/files.ts';

const KEY = 'express-key';
const [, NAMES = ''] = /^ {2}\/(.+)\/i;$/m.exec(readFile('config/recipes/express.js')) ?? [];
const CRAWLER = new RegExp(NAMES, 'i');

describe('Express with prerender-node', () => {
  let site: Server;
  let renderer: TestRenderService;
  let gateway: TestGateway;
  /** What reached the site's own handler. */
  const served: string[] = [];

  beforeAll(async () => {
    const app = express();
    app.use((request: Request, response: Response, next: () => void) => {
      if (CRAWLER.test(request.headers['user-agent'] ?? '')) prerender(request, response, next);
      else next();
    });
    app.use((request: Request, response: Response) => {
      served.push(request.originalUrl);
      response.send(`<div id=app>shell ${request.originalUrl}</div>`);
    });
    site = createServer(app).listen(0, '127.0.0.1');
    await once(site, 'listening');
    renderer = await startRenderService();
    gateway = await startTestGateway({
      gateway: `integration: {enabled: true, listen: "127.0.0.1:0"}
render: {engine: service, service: {urls: ["${renderer.url}"], token: ${renderer.token}}}
`,
      hosts: `hosts:
  - id: 1
    domain: site.test
    origin: "http://127.0.0.1:${portOf(site)}"
    render_key: ${KEY}
    url_rules: [{match: /account/*, action: bypass}]
`,
    });
    prerender
      .set('prerenderServiceUrl', `http://127.0.0.1:${gateway.integrationPort}/`)
      .set('prerenderToken', KEY)
      .set('crawlerUserAgents', ['']);
  });
  afterAll(async () => {
    site.closeAllConnections();
    site.close();
    await gateway.close();
    await renderer.close();
  });
  const get = (target: string, question?: Question) => ask(portOf(site), target, question);
  const asked = () => gateway.log.filter(({ msg }) => msg === 'request').length;

  it.each([
    ['/shop?b=2&a=1', 'https://site.test/shop?a=1&b=2'],
    ['/s?q=a%26b%23c%2Bd&r=1', 'https://site.test/s?q=a%26b%23c%2Bd&r=1'],
    ['/a%2Fb?_escaped_fragment_=', 'https://site.test/a%2Fb'],
  ])('a crawler gets the rendered page of %s', async (target, url) => {
    const first = await get(target);
    expect([first.status, first.header('X-Render-Source')]).toEqual([200, 'rendered']);
    expect(first.body).toBe(`<!doctype html><title>${url}</title>`);
    const second = await get(target);
    expect([second.body, second.header('X-Render-Source')]).toEqual([first.body, 'cache']);
    expect(served).toEqual([]);
  });

  it('a crawler that the middleware’s own list does not have gets the page, too', async () => {
    const userAgent = 'Mozilla/5.0 (compatible; Claude-User/1.0; +Claude-User@anthropic.com)';
    expect((await get('/known-here', { userAgent })).header('X-Render-Source')).toBe('rendered');
  });

  it('a large page arrives whole, compressed on its way', async () => {
    const html = '<p>paragraph</p>'.repeat(5_000);
    renderer.script('https://site.test/large', { kind: 'page', html });
    expect((await get('/large')).body).toBe(html);
    expect((await get('/large')).body).toBe(html);
  });

  it('redirects and statuses come through', async () => {
    renderer.script('https://site.test/old', { kind: 'redirect', status: 301, location: '/new' });
    const moved = await get('/old');
    expect([moved.status, moved.header('Location')]).toEqual([301, '/new']);
    renderer.script('https://site.test/gone', {
      kind: 'page',
      html: 'gone',
      head: { status: 410 },
    });
    expect((await get('/gone')).status).toBe(410);
  });

  it.each<[string, string, Question]>([
    ['people', '/shop', { userAgent: HUMAN }],
    ['a file', '/app.js', {}],
  ])('%s: the site answers, and we are not asked', async (_what, target, question) => {
    const before = asked();
    const reply = await get(target, question);
    expect(reply.body).toBe(`<div id=app>shell ${target}</div>`);
    expect(reply.header('X-Render-Source')).toBeNull();
    expect(asked()).toBe(before);
  });

  it('a page that is passed on comes back from the site, without a loop', async () => {
    served.length = 0;
    const reply = await get('/account/me?x=1&y=2');
    expect(reply.body).toBe('<div id=app>shell /account/me?x=1&y=2</div>');
    expect(reply.header('X-Render-Source')).toBe('bypass');
    expect(served).toEqual(['/account/me?x=1&y=2']);
  });

  it('a failed render falls back to the site, without a loop', async () => {
    renderer.script('https://site.test/broken', { kind: 'failed', code: 'crashed' });
    const reply = await get('/broken');
    expect(reply.body).toBe('<div id=app>shell /broken</div>');
  });

  it('a wrong token is told, not hidden', async () => {
    prerender.set('prerenderToken', 'wrong');
    expect((await get('/shop')).status).toBe(401);
    prerender.set('prerenderToken', KEY);
  });
});

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
