// Pages that send the visitor elsewhere, or say what they are by metas.
import type { ZooPages } from '../zoo.ts';
import { answer, app } from './page.ts';

const meta = (name: string, content: string): string =>
  `<meta name="${name}" content="${content}">`;
const code = (status: string): string => meta('prerender-status-code', status);

export const LEAVING_PAGES: ZooPages = {
  '/leave/301': answer(301, { location: '/app/static' }),
  '/leave/302-absolute': answer(302, { location: 'https://other.test/x' }),
  '/leave/307-latin1': answer(307, { location: '/caf\u00e9 x' }),
  '/leave/308-inner': (request, response) => {
    const inner = `http://127.0.0.1:${request.socket.localPort ?? 0}/app/static`;
    response.writeHead(308, { location: inner }).end();
  },
  '/leave/endless': answer(302, { location: '/leave/endless' }),
  '/leave/script': app(`location.href = '/app/static';`),
  '/leave/script-301': app(`location.replace('/app/static');`, code('301')),
  '/leave/script-other-host': app(`location.assign('https://other.test/y?z=1#f');`),
  '/leave/refresh': app(`app.textContent = 'still here';`, refresh('0;url=/app/static')),
  '/leave/refresh-later': app(`app.textContent = 'still here';`, refresh('600;url=/app/static')),
  '/leave/reload-once': app(
    `if (document.cookie.includes('seen')) app.textContent = 'second time';
else { document.cookie = 'seen=1'; location.reload(); }`,
  ),
  '/leave/reload-endless': app(`location.reload();`),
  '/leave/form': app(
    `app.innerHTML = '<form method="post" action="/app/static"></form>still here';
document.forms[0].submit();`,
  ),
  '/meta/404': app(`app.textContent = 'gone';`, code('404')),
  '/meta/late-404': app(
    `fetch('/api/items').then(() =>
  document.head.insertAdjacentHTML('beforeend', '${code('404')}'));`,
  ),
  '/meta/301': app('', code('301') + meta('prerender-header', 'Location: https://zoo.test/ä')),
  '/meta/301-script': app('', code('301') + meta('prerender-header', 'Location: javascript:x()')),
  '/meta/rendertron-410': app('', meta('render:status_code', '410')),
  '/meta/odd': app('', code('999') + meta('prerender-header', 'Set-Cookie: a=b')),
  '/meta/body': app(`document.body.insertAdjacentHTML('beforeend', '${code('404')}');`),
  '/meta/header': app('', meta('prerender-header', 'X-Robots-Tag: noindex')),
  '/meta/on-500': answer(500, {}, app(`app.textContent = 'broken';`, code('200'))),
  '/status/404': answer(404, { 'x-zoo': 'yes', 'set-cookie': 'sid=1' }, app(`app.append('!')`)),
  '/status/503': answer(503, { 'retry-after': '5' }, app(`app.append('!')`)),
  '/status/204': answer(204, {}),
  '/status/508': answer(508, {}, 'loop'),
};

function refresh(content: string): string {
  return `<meta http-equiv="refresh" content="${content}">`;
}
