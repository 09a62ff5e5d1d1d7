// Pages that would stop, trap or crowd out a browser that somebody sits in front of.
import type { ZooPages } from '../zoo.ts';
import { answer, app } from './page.ts';

export const HOSTILE_PAGES: ZooPages = {
  '/hostile/dialogs': app(
    `alert('stop'); const c = confirm('sure?'); const p = prompt('name?');
addEventListener('beforeunload', (e) => { e.preventDefault(); e.returnValue = 'stay'; });
app.textContent = 'went on ' + c + ' ' + p;`,
  ),
  '/hostile/downloads': app(
    `const a = document.createElement('a'); a.href = '/file.zip'; a.download = 'x.zip';
document.body.append(a); a.click();
const f = document.createElement('iframe'); f.src = '/file.zip'; document.body.append(f);
location.href = '/file.zip';
app.textContent = 'nothing saved';`,
  ),
  '/hostile/late-download': app(
    `window.prerenderReady = false;
addEventListener('load', () => setTimeout(() => { location.href = '/file.zip'; }, 100));
setTimeout(() => { app.textContent = 'still here'; location.href = 'mailto:zoo@zoo.test';
  window.prerenderReady = true; }, 500);`,
  ),
  '/file.zip': answer(
    200,
    { 'content-type': 'application/zip', 'content-disposition': 'attachment; filename="x.zip"' },
    'PK',
  ),
  '/file.pdf': answer(200, { 'content-type': 'application/pdf' }, '%PDF-1.7'),
  '/hostile/popups': app(
    `for (let i = 0; i < 5; i += 1) window.open('/app/static?popup=' + i);
app.textContent = 'opened';`,
  ),
  '/hostile/worker': app(
    `window.prerenderReady = false;
const show = (text) => { app.textContent = text; window.prerenderReady = true; };
if (!navigator.serviceWorker) show('no worker');
else navigator.serviceWorker.register('/worker.js').then(
  (r) => show(r ? 'registered' : 'no worker'), () => show('no worker'));
setTimeout(() => { if (app.textContent === 'shell') show('no worker'); }, 300);`,
  ),
  '/worker.js': (_request, response) => {
    const script = `self.onfetch = (e) => e.respondWith(new Response('hijacked'));`;
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
  },
  '/hostile/busy': app(`app.textContent = 'busy'; for (;;);`),
  '/hostile/closes': app(`app.textContent = 'still open'; print(); close(); window.stop();`),
  '/hostile/long-url': app(
    `history.pushState({}, '', '/' + 'u'.repeat(100000)); app.textContent = 'long';`,
  ),
  '/hostile/headers': (_request, response) => {
    const headers = { 'content-type': 'text/html', 'x-long': 'v'.repeat(20_000) };
    for (let i = 0; i < 600; i += 1) Object.assign(headers, { [`x-${i}`]: '1' });
    response.writeHead(200, headers).end('<!doctype html><p>many headers</p>');
  },
  '/hostile/overrides': app(
    `app.textContent = 'true content';
document.querySelectorAll = () => []; document.createTreeWalker = () => { throw 1; };
Array.from = () => ['fake']; JSON.stringify = () => '"fake"'; Element.prototype.getHTML = () => 'fake';
String.prototype.replace = () => 'fake';`,
  ),
  '/hostile/blob': app(
    `location.href = URL.createObjectURL(new Blob(['<p>blob</p>'], { type: 'text/html' }));`,
  ),
  '/hostile/noisy': app(
    `for (let i = 0; i < 500; i += 1) console.error('noise ' + i + 'z'.repeat(2000));`,
  ),
  '/hostile/store': app(
    `document.cookie = 'trace=1'; localStorage.setItem('trace', '1');
indexedDB.open('trace'); caches.open('trace').then((c) => c.put('/x', new Response('y')));
app.textContent = 'stored';`,
  ),
  '/hostile/look': app(
    `Promise.all([indexedDB.databases(), caches.keys()]).then(([d, c]) => {
app.textContent = [document.cookie, localStorage.length, d.length, c.length].join('|'); });`,
  ),
};
