// What the bench renders: ordinary pages of the zoo that both contenders can render, and what each
// must show. Hostile and broken pages are left out: they measure timeouts, not work.
import { app } from '../page-zoo/pages/page.ts';
import type { ZooPages } from '../page-zoo/zoo.ts';

export interface BenchPage {
  readonly path: string;
  /** Only a script, or the origin of a static page, can have written it. */
  readonly text: string;
}

const ROWS = 2_000;
const PARTS = 8;

/** A catalogue of a few hundred kilobytes, built by its script. */
const TABLE = `
fetch('/api/items').then((answer) => answer.json()).then(({ items }) => {
  const rows = Array.from({ length: ${ROWS} }, (_, i) =>
    '<tr id="r' + i + '"><td>' + (i + 1) + '</td><td><a href="/p/' + i + '">' +
    items[i % items.length] + '</a></td><td class="price">' + (i * 7 % 1000) + ' EUR</td></tr>');
  app.innerHTML = '<table><tbody>' + rows.join('') + '</tbody></table><p>all rows</p>';
});`;

/** A page in many files: styles, scripts, images, each a request of its own. */
const FILES = Array.from({ length: PARTS }, (_, i) => [
  `<link rel="stylesheet" href="/bench/style.css?${i}">`,
  `<script src="/script.js?${i}" defer></script><link rel="icon" href="/image.png?${i}">`,
])
  .flat()
  .join('');
const MANY_FILES = `
app.innerHTML = Array.from({ length: ${PARTS} }, (_, i) =>
  '<img width="10" height="10" src="/image.png?i' + i + '">').join('');
addEventListener('load', () => fetch('/api/items').then(() => app.append('all files')));`;

/** Pages the bench adds to the zoo. */
export const BENCH_ZOO: ZooPages = {
  '/bench/table': app(TABLE),
  '/bench/many-files': app(MANY_FILES, FILES),
  '/bench/style.css': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/css' }).end('.price { color: teal; }');
  },
};

export const BENCH_PAGES: readonly BenchPage[] = [
  { path: '/app/static', text: 'made by the server' },
  { path: '/app/virtual-dom', text: '<li>bear</li>' },
  { path: '/app/reactive', text: 'count is 3' },
  { path: '/app/compiled', text: '<p>1,234</p>' },
  { path: '/app/elements', text: 'light</zoo-outer>' },
  { path: '/app/hash-router', text: 'route #/home' },
  { path: '/app/history-router', text: 'route /history/products?page=2' },
  // Everything below the fold is beyond prerender; it is not asked for here.
  { path: '/app/lazy-list', text: 'item 10<' },
  { path: '/app/noscript', text: 'without &amp; scripts' },
  { path: '/style/css-in-js', text: 'styled' },
  { path: '/style/data-blocks', text: 'module ran' },
  { path: '/style/policy', text: 'under a policy' },
  { path: '/network/slow-data', text: 'slow data' },
  { path: '/bench/table', text: 'all rows' },
  { path: '/bench/many-files', text: 'all files' },
];
