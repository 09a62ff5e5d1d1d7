// Networks that are never quiet, slow, or broken.
import type { ZooPage, ZooPages } from '../zoo.ts';
import { app, json } from './page.ts';

/** Never answers. */
const hang: ZooPage = () => undefined;

const EVENTS: ZooPage = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('data: from the stream\n\n');
};

const SOCKET_AND_EVENTS = `
const seen = [];
const show = (text) => { seen.push(text); app.textContent = seen.sort().join(', '); };
new WebSocket(location.origin.replace('http', 'ws') + '/socket').onmessage = (e) => show(e.data);
new EventSource('/events').onmessage = (e) => show(e.data);`;

export const NETWORK_PAGES: ZooPages = {
  '/hang': hang,
  '/events': EVENTS,
  '/api/slow': json({ text: 'slow data' }, 1_500),
  '/network/socket-and-events': app(SOCKET_AND_EVENTS),
  '/network/long-poll': app(
    `app.textContent = 'polling';
const poll = () => fetch('/hang').then(poll, () => {});
poll();`,
  ),
  '/network/polling': app(
    `let n = 0;
setInterval(() => fetch('/api/items').then(() => { app.textContent = 'polled ' + (++n); }), 1000);`,
  ),
  '/network/never-idle': app(
    `app.textContent = 'restless';
setInterval(() => fetch('/api/items?' + Math.random()), 100);`,
  ),
  '/network/slow-data': app(
    `fetch('/api/slow').then((a) => a.json()).then((d) => { app.textContent = d.text; });`,
  ),
  '/network/slow-image': app(`app.textContent = 'text'; new Image().src = '/hang';`),
  '/network/slow-script': app(
    `app.textContent = 'text';
const s = document.createElement('script'); s.src = '/hang?script'; document.head.append(s);`,
  ),
  '/network/beacon': app(
    `addEventListener('load', () => navigator.sendBeacon('/hang', 'x')); app.textContent = 'sent';`,
  ),
  '/network/blocked': app(
    `const load = (src) => new Promise((done) => {
  const s = document.createElement('script'); s.src = src; s.onload = () => done('loaded');
  s.onerror = () => done('blocked'); document.head.append(s); });
Promise.all([load('/script.js?via=tracker.test'), load('http://tracker.test/t.js'),
  load('/tracking/t.js')]).then((all) => { app.textContent = all.join(' '); });
new Image().src = '/image.png';`,
  ),
  '/network/third-party': app(
    `fetch('http://cdn.test/data', { mode: 'no-cors' })
  .then(() => { app.textContent = 'fetched'; }, (e) => { app.textContent = String(e); });`,
  ),
  '/network/cut': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': '10000' });
    response.write('<!doctype html><title>cut</title><p>first half', () => {
      response.socket?.destroy();
    });
  },
  '/network/reset': (request) => {
    request.socket.resetAndDestroy();
  },
};
