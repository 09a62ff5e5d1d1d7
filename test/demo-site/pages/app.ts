// The JavaScript-only page: the same empty shell for every address below /app, which only a browser
// (or a renderer) fills. There is no prerendered answer for anyone.
import { type Exchange, send, sendHtml } from '../exchange.ts';

const SHELL = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Loading…</title>
<link rel="stylesheet" href="/assets/site.css">
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript.</noscript>
<script>window.prerenderReady = false;</script>
<script src="/assets/app.js" defer></script>
</body>
</html>
`;

const SCRIPT = `const place = document.getElementById('app');
const add = (name, text) => {
  const element = document.createElement(name);
  element.textContent = text;
  place.append(element);
};
const products = await (await fetch('/api/products')).json();
document.title = 'App: ' + location.pathname;
add('h1', 'Rendered in the browser');
for (const product of products) add('p', product.name);
window.prerenderReady = true;
`;

/** `/app` and below */
export function showApp(exchange: Exchange): void {
  sendHtml(exchange, SHELL);
}

/** `/assets/app.js` */
export function showAppScript(exchange: Exchange): void {
  const headers = { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' };
  send(exchange, 200, headers, Buffer.from(`(async () => {\n${SCRIPT}})();\n`));
}
