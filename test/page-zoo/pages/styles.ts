// Styles and scripts: what only exists in memory, and what must not come along.
import type { ZooPages } from '../zoo.ts';
import { app } from './page.ts';

const CSS_IN_JS = `
const empty = document.createElement('style');
document.head.append(empty);
empty.sheet.insertRule('.inserted { color: red; }');
document.getElementById('written').sheet.insertRule('.more::after { content: "<\\/style>"; }');
const sheet = new CSSStyleSheet();
sheet.replaceSync('.adopted { color: green; }');
document.adoptedStyleSheets = [sheet];
app.textContent = 'styled';`;

const DATA = `
<script type="application/ld+json">{"@type":"Product"}</script>
<script type="importmap">{"imports":{}}</script>
<script type="text/template"><b>{{name}}</b></script>
<script type="application/json" id="state"></script>
<script type="module">document.title = 'module ran';</script>
<script type="text/ecmascript">document.title += '!';</script>
<script src="/script.js" async></script>
<link rel="preload" as="script" href="/script.js"><link rel="modulepreload" href="/module.js">
<link rel="preload" as="image" href="/image.png"><link rel="canonical" href="https://zoo.test/x">
<template id="t"><p>template content</p></template>`;

const HANDLERS = `app.innerHTML = '<a href="java&#10;script:alert(1)" onclick="x()" one="1">a</a>' +
'<img src="/image.png" onerror="x()"><form action="JavaScript:y()"></form>' +
'<svg><a xlink:href="javascript:z()"><text>t</text></a></svg>';
document.getElementById('state').textContent = JSON.stringify({ html: '<\\/script><script>evil()' });`;

export const STYLE_PAGES: ZooPages = {
  '/style/css-in-js': app(CSS_IN_JS, '<style id="written">.written { color: blue }</style>'),
  '/style/data-blocks': app(HANDLERS, DATA),
  '/script.js': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end('window.loaded = true;');
  },
  '/module.js': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end('export {};');
  },
  '/image.png': (_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' }).end();
  },
  '/style/policy': (_request, response) => {
    const policy = "default-src 'self'; script-src 'nonce-zoo'; style-src 'self'";
    response
      .writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy })
      .end(
        '<!doctype html><p id=a></p><script nonce="zoo">a.textContent = "under a policy"</script>',
      );
  },
};
