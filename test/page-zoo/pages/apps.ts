// Applications: what frameworks and routers do to a document.
import type { ZooPages } from '../zoo.ts';
import { app, json } from './page.ts';

/** A node tree described, compared and patched, with delegated events: as React does. */
const VIRTUAL_DOM = `
const h = (tag, props, ...children) => ({ tag, props, children });
const mount = (node) => {
  if (typeof node === 'string') return document.createTextNode(node);
  const element = document.createElement(node.tag);
  for (const [name, value] of Object.entries(node.props ?? {})) element[name] = value;
  element.append(...node.children.map(mount));
  return element;
};
const render = (tree) => document.getElementById('app').replaceChildren(mount(tree));
render(h('p', null, 'loading'));
fetch('/api/items').then((answer) => answer.json()).then(({ items }) => render(
  h('ul', { className: 'items', onclick: () => {} }, ...items.map((item) => h('li', null, item)))));`;

/** A proxy that re-renders when data changes, in a later turn: as Vue does. */
const REACTIVE = `
const target = document.getElementById('app');
const state = new Proxy({ count: 0 }, { set(object, key, value) {
  object[key] = value;
  queueMicrotask(() => { target.textContent = 'count is ' + object.count; });
  return true;
} });
fetch('/api/items').then(() => { state.count = 3; });`;

/** Nodes cloned from a template and set one by one: as compiled Svelte does. */
const COMPILED = `
const template = document.createElement('template');
template.innerHTML = '<section><h1></h1><p></p></section>';
const block = template.content.cloneNode(true);
block.querySelector('h1').textContent = 'compiled';
block.querySelector('p').textContent = new Intl.NumberFormat('en').format(1234);
document.getElementById('app').replaceChildren(block);`;

/** A custom element with a shadow root inside another: as Lit does. */
const ELEMENTS = `
const sheet = new CSSStyleSheet();
sheet.replaceSync('b { color: teal; }');
customElements.define('zoo-inner', class extends HTMLElement {
  connectedCallback() {
    const root = this.attachShadow({ mode: 'open' });
    root.innerHTML = '<b>inner shadow</b>';
    root.adoptedStyleSheets = [sheet];
  }
});
customElements.define('zoo-outer', class extends HTMLElement {
  connectedCallback() {
    this.attachShadow({ mode: 'open' }).innerHTML =
      '<slot></slot><zoo-inner></zoo-inner><script>1</' + 'script><i onclick="x()">outer shadow</i>';
  }
});
document.getElementById('app').innerHTML = '<zoo-outer>light</zoo-outer>';`;

const HASH_ROUTER = `
const show = () => { document.getElementById('app').textContent = 'route ' + location.hash; };
addEventListener('hashchange', show);
location.hash = '#/home';`;

const HISTORY_ROUTER = `
history.pushState({}, '', '/history/products?page=2');
document.getElementById('app').textContent = 'route ' + location.pathname + location.search;`;

/** Items come ten at a time, when the last one comes into view. */
const LAZY_LIST = `
const list = document.getElementById('app');
list.textContent = '';
let count = 0;
const add = () => {
  for (let i = 0; i < 10; i += 1) {
    const item = document.createElement('div');
    item.style.height = '200px';
    item.textContent = 'item ' + (++count);
    list.append(item);
  }
  if (count < 30) observer.observe(list.lastElementChild);
};
const observer = new IntersectionObserver((entries) => {
  if (!entries.some((entry) => entry.isIntersecting)) return;
  observer.disconnect();
  fetch('/api/items').then(add);
});
add();`;

/** 5 MB of document. */
const HUGE = `
const parts = [];
for (let i = 0; i < 50000; i += 1) parts.push('<p class="row" id="r' + i + '">row ' + i + ' ' + 'x'.repeat(64) + '</p>');
document.getElementById('app').innerHTML = parts.join('');`;

const TOO_LARGE = `document.getElementById('app').textContent = 'y'.repeat(21 * 1024 * 1024);`;

export const APP_PAGES: ZooPages = {
  '/api/items': json({ items: ['lion', 'tiger', 'bear'] }),
  '/app/static': '<!doctype html><title>static</title><p>made by the server</p>',
  '/app/virtual-dom': app(VIRTUAL_DOM),
  '/app/reactive': app(REACTIVE),
  '/app/compiled': app(COMPILED),
  '/app/elements': app(ELEMENTS),
  '/app/hash-router': app(HASH_ROUTER),
  '/app/history-router': app(HISTORY_ROUTER),
  '/app/lazy-list': app(LAZY_LIST),
  '/app/huge': app(HUGE),
  '/app/too-large': app(TOO_LARGE),
  '/app/ready-late': app(
    `window.prerenderReady = false;
setTimeout(() => { app.textContent = 'ready late'; window.prerenderReady = true; }, 1500);`,
  ),
  '/app/ready-late-let': app(
    `let prerenderReady = false;
setTimeout(() => { app.textContent = 'ready late'; prerenderReady = true; }, 1200);`,
  ),
  '/app/ready-never': app(`window.prerenderReady = false; app.textContent = 'never ready';`),
  '/app/selector': app(
    `setTimeout(() => { app.innerHTML = '<p class="done">selected</p>'; }, 1200);`,
  ),
  '/app/additional-wait': app(`setTimeout(() => { app.textContent = 'waited for'; }, 1000);`),
  '/app/throws': app(
    `app.textContent = 'before'; console.error('said so'); throw new Error('oops');`,
  ),
  '/app/device': app(
    `app.textContent = [innerWidth, 'ontouchstart' in window, navigator.language,
navigator.userAgent, devicePixelRatio].join('|');`,
  ),
  '/app/noscript': app(
    `const added = document.createElement('noscript');
added.innerHTML = '<p>added</p>';
app.textContent = 'done';
document.body.append(added);`,
  ).replace('<div', '<noscript><p>without &amp; scripts</p></noscript><div'),
};
