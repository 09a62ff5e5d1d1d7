// Addresses that answer with a certain status: redirects, errors, gone.
import { type Exchange, send, sendMessage } from '../exchange.ts';

/** `/redirect/301` (relative target), `/redirect/302` (path with a query), `/redirect/308` (absolute). */
export function redirect(exchange: Exchange): void {
  const targets: Readonly<Record<string, string>> = {
    '301': '../products',
    '302': '/products?page=2&utm_source=redirect',
    '308': new URL('/blog', exchange.url).href,
  };
  const status = exchange.url.pathname.slice('/redirect/'.length);
  const location = targets[status];
  if (location === undefined) {
    sendMessage(exchange, 404, 'No such redirect');
    return;
  }
  send(exchange, Number(status), { location }, Buffer.alloc(0));
}

/** `/error/500`, `/error/503` (asks to come back in two minutes) and any other 4xx or 5xx. */
export function fail(exchange: Exchange): void {
  const status = Number(exchange.url.pathname.slice('/error/'.length));
  if (!Number.isInteger(status) || status < 400 || status > 599) {
    sendMessage(exchange, 404, 'No such error');
    return;
  }
  sendMessage(exchange, status, `Error ${status}`, status === 503 ? { 'retry-after': '120' } : {});
}

/** `/gone` */
export function showGone(exchange: Exchange): void {
  sendMessage(exchange, 410, 'This offer is gone');
}
