// Files that never change: a style sheet and an image, both for a year.
import { type Exchange, send } from '../exchange.ts';

const FOREVER = 'public, max-age=31536000, immutable';

const STYLES = `body { font-family: system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; }
nav a { margin-right: 1rem; }
`;

/** One grey pixel as PNG. */
const LOGO = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==',
  'base64',
);

/** `/assets/site.css` */
export function showStyles(exchange: Exchange): void {
  const headers = { 'content-type': 'text/css; charset=utf-8', 'cache-control': FOREVER };
  send(exchange, 200, headers, Buffer.from(STYLES));
}

/** `/assets/logo.png` */
export function showLogo(exchange: Exchange): void {
  send(exchange, 200, { 'content-type': 'image/png', 'cache-control': FOREVER }, LOGO);
}
