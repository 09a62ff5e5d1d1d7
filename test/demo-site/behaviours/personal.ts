// Answers that depend on who asks: cookies, private pages, variants, the request's own headers.
import { type Exchange, send, sendHtml, sendJson } from '../exchange.ts';

const GREETINGS: Readonly<Record<string, string>> = { en: 'Hello', de: 'Guten Tag', fr: 'Bonjour' };

/** `「日本語」` in Shift_JIS. */
const SHIFT_JIS_TITLE = Buffer.from('817593fa967b8cea8176', 'hex');

/** `/login`: two cookies, one whose date has a comma in it. */
export function login(exchange: Exchange): void {
  sendHtml(exchange, page('Signed in'), {
    'set-cookie': [
      'session=demo; Path=/; HttpOnly; SameSite=Lax',
      'theme=dark; Path=/; Expires=Fri, 01 Jan 2100 00:00:00 GMT',
    ],
    'cache-control': 'no-store',
  });
}

/** `/account`: for one person only. */
export function showAccount(exchange: Exchange): void {
  const name = exchange.request.headers.cookie?.includes('session=demo') ? 'Demo' : 'Guest';
  sendHtml(exchange, page(`Account of ${name}`), { 'cache-control': 'private, max-age=60' });
}

/** `/vary/language`: three languages under one address. */
export function varyByLanguage(exchange: Exchange): void {
  const wanted = (exchange.request.headers['accept-language'] ?? 'en').slice(0, 2).toLowerCase();
  const language = Object.hasOwn(GREETINGS, wanted) ? wanted : 'en';
  sendHtml(exchange, page(GREETINGS[language] ?? ''), {
    vary: 'Accept-Language',
    'content-language': language,
  });
}

/** `/vary/device`: small screens get another page. */
export function varyByDevice(exchange: Exchange): void {
  const isMobile = /mobile/i.test(exchange.request.headers['user-agent'] ?? '');
  sendHtml(exchange, page(isMobile ? 'Small screen' : 'Large screen'), { vary: 'User-Agent' });
}

/** `/vary/any`: no two requests are alike. */
export function varyByAnything(exchange: Exchange): void {
  sendHtml(exchange, page('Never the same'), { vary: '*' });
}

/** `/headers`: what reached the origin, repeats and spelling kept. */
export function echoHeaders(exchange: Exchange): void {
  const { method, url, httpVersion, rawHeaders } = exchange.request;
  const headers = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1]]] : [],
  );
  sendJson(
    exchange,
    { method, target: url, httpVersion, headers },
    { 'cache-control': 'no-store' },
  );
}

/** `/shift-jis`: a page in an older encoding, said in the header and in the page. */
export function showShiftJis(exchange: Exchange): void {
  const body = Buffer.concat([
    Buffer.from('<!doctype html><html lang="ja"><meta charset="Shift_JIS"><title>'),
    SHIFT_JIS_TITLE,
    Buffer.from('</title></html>\n'),
  ]);
  send(exchange, 200, { 'content-type': 'text/html; charset=Shift_JIS' }, body);
}

function page(text: string): string {
  return `<!doctype html><html lang="en"><title>${text}</title><h1>${text}</h1></html>\n`;
}
