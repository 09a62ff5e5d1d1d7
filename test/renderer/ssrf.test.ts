// A page that tries everything a page can try to reach what is not public: loopback, link-local,
// metadata, private and wrapped addresses, by every means of a browser. Listeners stand where it
// wants to go; none may hear of it (group G of the attack cases).
import dgram from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectPublic } from '../../src/renderer/egress/connect-public.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { app } from '../page-zoo/pages/page.ts';
import { openZoo, type Zoo } from '../page-zoo/zoo.ts';
import {
  describeWithChromium,
  startTestRenderer,
  type TestRenderer,
  ZOO_HOST,
} from './test-renderer.ts';

/** Ways of writing loopback and other addresses that are not public. */
const HOSTS = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  'localhost',
  'sub.localhost',
  'localhost.localdomain',
  '127.0.0.1.nip.test',
  'rebind.test',
  'mixed.test',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '100.100.100.200',
  '169.254.169.254',
  'metadata.google.internal',
  '[fd00:ec2::254]',
  '[fe80::1]',
];

/** Ways of asking; `$` is host and port. */
const WAYS: Readonly<Record<string, string>> = {
  fetch: `fetch('http://$/fetch', { mode: 'no-cors' })`,
  fetchSecure: `fetch('https://$/fetch', { mode: 'no-cors' })`,
  post: `fetch('http://$/post', { method: 'POST', mode: 'no-cors', body: 'x' })`,
  xhr: `const x = new XMLHttpRequest(); x.open('GET', 'http://$/xhr'); x.send()`,
  image: `new Image().src = 'http://$/image'`,
  script: `add('script', { src: 'http://$/script' })`,
  style: `add('link', { rel: 'stylesheet', href: 'http://$/style' })`,
  frame: `add('iframe', { src: 'http://$/frame' })`,
  object: `add('object', { data: 'http://$/object' })`,
  video: `add('video', { src: 'http://$/video', preload: 'auto' })`,
  track: `add('source', { srcset: 'http://$/source' })`,
  preload: `add('link', { rel: 'preload', as: 'fetch', href: 'http://$/preload' })`,
  prefetch: `add('link', { rel: 'prefetch', href: 'http://$/prefetch' })`,
  preconnect: `add('link', { rel: 'preconnect', href: 'http://$/' })`,
  dnsPrefetch: `add('link', { rel: 'dns-prefetch', href: 'http://$/' })`,
  modulePreload: `add('link', { rel: 'modulepreload', href: 'http://$/module' })`,
  icon: `add('link', { rel: 'icon', href: 'http://$/icon' })`,
  manifest: `add('link', { rel: 'manifest', href: 'http://$/manifest' })`,
  beacon: `navigator.sendBeacon('http://$/beacon', 'x')`,
  socket: `new WebSocket('ws://$/socket')`,
  socketSecure: `new WebSocket('wss://$/socket')`,
  events: `new EventSource('http://$/events')`,
  importing: `import('http://$/import').catch(() => {})`,
  worker: `new Worker(URL.createObjectURL(new Blob(["fetch('http://$/worker', {mode:'no-cors'})"])))`,
  popup: `window.open('http://$/popup')`,
  form: `const f = add('form', { action: 'http://$/form', target: '_blank', method: 'post' }); f.submit()`,
  ping: `const a = add('a', { href: '#x', ping: 'http://$/ping' }); a.click()`,
  fontFace: `new FontFace('f', 'url(http://$/font)').load().catch(() => {})`,
  background: `document.body.style.backgroundImage = 'url(http://$/css)'`,
  speculation: `const s = add('script', { type: 'speculationrules' });
    s.textContent = JSON.stringify({ prefetch: [{ urls: ['http://$/spec'] }] })`,
  redirected: `fetch('/redirect?to=' + encodeURIComponent('http://$/redirected'), { mode: 'no-cors' })`,
  redirectedFrame: `add('iframe', { src: '/redirect?to=' + encodeURIComponent('http://$/rf') })`,
  transport: `new WebTransport('https://$/wt').ready.catch(() => {})`,
  stun: `const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:$' }, { urls: 'stun:$?transport=tcp' }] });
    p.createDataChannel('x'); p.createOffer().then((o) => p.setLocalDescription(o))`,
  turn: `const q = new RTCPeerConnection({ iceServers: [
      { urls: 'turn:$?transport=tcp', username: 'u', credential: 'c' },
      { urls: 'turn:$?transport=udp', username: 'u', credential: 'c' }], iceTransportPolicy: 'relay' });
    q.createDataChannel('x'); q.createOffer().then((o) => q.setLocalDescription(o))`,
};

const LIKELIEST = new Set(['fetch', 'fetchSecure', 'frame', 'socket', 'image', 'redirected']);

/** Ways that need no host. */
const PLACES = [
  'file:///etc/passwd',
  'file://localhost/etc/hostname',
  'chrome://version',
  'devtools://devtools/bundled/inspector.html',
  'view-source:http://127.0.0.1/',
  'ftp://127.0.0.1/',
  'data:text/html,<p>data-page</p>',
];

/** Every way for one host, and the likeliest ways for every host. */
const ATTEMPTS = HOSTS.flatMap((host, index) =>
  Object.entries(WAYS)
    .filter(([name]) => index === 0 || LIKELIEST.has(name))
    .map(([, way]) => [host, way] as const),
);

function page(port: number): string {
  const ways = ATTEMPTS.map(([host, way]) => way.replaceAll('$', `${host}:${port}`));
  const attempts = ways.map((way) => `() => { ${way} }`).join(',\n');
  const places = PLACES.map((place) => `() => read(${JSON.stringify(place)})`).join(',\n');
  return app(`
window.prerenderReady = false;
const texts = [];
const add = (tag, props) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) element.setAttribute(name, value);
  return document.body.appendChild(element);
};
const read = async (place) => {
  add('iframe', { src: place });
  const text = await fetch(place).then((answer) => answer.text());
  texts.push(place + text.length);
};
let refused = 0;
for (const attempt of [${attempts}, ${places}]) {
  try { const r = attempt(); if (r && r.catch) r.catch(() => {}); } catch { refused += 1; }
}
setTimeout(() => {
  for (const junk of document.querySelectorAll('iframe,object,video,source,link,a,form')) junk.remove();
  app.textContent = 'tried ' + ${ways.length} + '; read ' + texts.join(' ');
  window.prerenderReady = true;
}, 3000);`);
}

describeWithChromium('a page that attacks its surroundings', () => {
  const heard: string[] = [];
  const listeners: Server[] = [];
  let datagrams: dgram.Socket;
  let zoo: Zoo;
  let renderer: TestRenderer;
  let port = 0;
  const asked = new Map<string, number>();

  const resolve = async (name: string): Promise<readonly string[]> => {
    const times = (asked.get(name) ?? 0) + 1;
    asked.set(name, times);
    // Public at first, then private: only the answer that was judged may be used.
    if (name === 'rebind.test') return times === 1 ? ['192.0.2.1'] : ['127.0.0.1'];
    if (name === 'mixed.test') return ['127.0.0.1', '::1', '10.0.0.1'];
    if (name === 'metadata.google.internal') return ['169.254.169.254'];
    return ['127.0.0.1', '::1'];
  };

  beforeAll(async () => {
    const listen = async (host: string, at: number): Promise<void> => {
      const server = createServer((socket) => {
        heard.push(`${host} tcp`);
        socket.destroy();
      });
      server.listen(at, host);
      await once(server, 'listening');
      listeners.push(server);
      port = (server.address() as AddressInfo).port;
    };
    await listen('127.0.0.1', 0);
    await listen('::1', port);
    datagrams = dgram.createSocket('udp4', () => heard.push('udp'));
    datagrams.bind(port, '127.0.0.1');
    await once(datagrams, 'listening');
    zoo = await openZoo({
      '/attack': (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end(page(port));
      },
      '/redirect': (request, response) => {
        const to = new URL(request.url ?? '', 'http://zoo').searchParams.get('to') ?? '';
        response.writeHead(302, { location: to }).end();
      },
    });
    renderer = await startTestRenderer(zoo.url, {
      connectPublic: (target, signal) => connectPublic(target, signal, resolve),
    });
  });
  afterAll(async () => {
    await renderer.service.close();
    await zoo.close();
    datagrams.close();
    for (const server of listeners) server.close();
  });

  test(`${ATTEMPTS.length} attempts: nothing is reached`, { timeout: 60_000 }, async () => {
    const { head, html } = await renderer.render(`https://${ZOO_HOST}/attack`, {
      wait_for: 'DOMContentLoaded',
      soft_timeout_ms: 40_000,
      timeout_ms: 45_000,
    });
    expect(head.outcome).toBe('complete');
    const told = /<div id="app">([^<]*)</.exec(html)?.[1];
    expect(told).toMatch(new RegExp(`^tried ${ATTEMPTS.length}; read (data:\\S+)?$`));
    expect(heard).toEqual([]);
    expect(zoo.visits.map(({ url }) => url)).toContain('/attack');
    // They did try: the egress says how often it refused.
    const text = await (await fetch(`${renderer.service.address}/metrics`)).text();
    const refused = /refused_connections_total (\d+)/.exec(text)?.[1];
    expect(Number(refused)).toBeGreaterThan(50);
  });

  test('the listeners can be heard of', async () => {
    const probe = await fetch(`http://127.0.0.1:${port}/`).catch(() => null);
    expect(probe).toBe(null);
    await waitUntil('the probe is heard', () => heard.includes('127.0.0.1 tcp'));
    const sender = dgram.createSocket('udp4');
    sender.send('x', port, '127.0.0.1');
    await waitUntil('the datagram is heard', () => heard.includes('udp'));
    sender.close();
  });

  test.each([
    ['http://127.0.0.1/', 'unknown_host'],
    ['http://localhost/', 'unknown_host'],
    ['http://other.test/', 'unknown_host'],
    ['https://zoo.test@127.0.0.1/', 'refused'],
    ['https://user:secret@zoo.test/', 'refused'],
    ['https://canary.edge-gateway.invalid/', 'unknown_host'],
  ])('%s is not a page of ours', async (url, code) => {
    const { head } = await renderer.render(url);
    expect(head).toMatchObject({ outcome: 'failed', error: { code } });
  });
});
