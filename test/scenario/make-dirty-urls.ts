// Makes the recorded list of dirty URLs: canonical pages, each under many spellings that mean the
// same page, next to look-alikes that are other pages. What belongs together is known from how the
// list is made, never from the normalizer. `npx tsx test/scenario/make-dirty-urls.ts` writes it anew.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Page {
  readonly segments: readonly string[];
  readonly pairs: readonly (readonly [string, string])[];
  readonly endsWithSlash: boolean;
}

interface TrackingParam {
  readonly name: string;
  readonly kind: string;
  readonly risk: string;
}

const SPELLINGS_PER_PAGE = 12;
const random = seededRandom(20_261_130);

function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function pick<T>(list: readonly T[]): T {
  const item = list[Math.floor(random() * list.length)];
  if (item === undefined) throw new Error('picked from an empty list');
  return item;
}

const chance = (probability: number): boolean => random() < probability;

/** Path shapes of real sites: shops, blogs, docs, forums, localised and non-ASCII ones. */
function makePages(): readonly Page[] {
  const pages: Page[] = [];
  const add = (path: string, pairs: readonly (readonly [string, string])[] = []): void => {
    pages.push({
      segments: path.split('/').filter((segment) => segment !== ''),
      pairs,
      endsWithSlash: path.endsWith('/'),
    });
  };
  const products = ['blue-suede-shoes', 'Café-Crème', 'größe-42', 'red~dress', 'size_7', 'a.b.c'];
  for (const product of products) {
    for (const id of ['1001', '1002', '1003']) {
      add(`/product/${id}/${product}`);
      add(`/product/${id}/${product}/`);
      add(`/product/${id}/${product}`, [['variant', pick(['black', 'white', 'sky blue'])]]);
      add(`/product/${id}/${product}`, [['variant', `50% off & more ${id}`]]);
    }
  }
  for (const category of ['shoes', 'Shoes', 'men/shoes', 'men%2Fshoes', 'women/été', '靴']) {
    for (const page of ['1', '2', '10']) {
      add(`/c/${category}`, [['page', page]]);
      add(`/c/${category}`, [
        ['color', 'red'],
        ['page', page],
        ['size', '42'],
      ]);
      add(`/c/${category}`, [
        ['filter[]', 'red'],
        ['filter[]', 'blue'],
        ['page', page],
      ]);
      add(`/c/${category}`, [
        ['filter[]', 'blue'],
        ['filter[]', 'red'],
        ['page', page],
      ]);
      add(`/c/${category}`, [
        ['q', 'a+b'],
        ['page', page],
      ]);
      add(`/c/${category}`, [
        ['q', 'a b'],
        ['page', page],
      ]);
    }
  }
  for (let year = 2019; year <= 2026; year += 1) {
    for (const slug of ['hello-world', 'node.js-in-production', 'what-is-new', 'über-uns']) {
      add(`/blog/${year}/${slug}`);
      add(`/blog/${year}/${slug}`, [['amp', '']]);
      add(`/blog/${year}/${slug}/comments`, [['sort', pick(['new', 'top'])]]);
    }
  }
  for (let thread = 1; thread <= 90; thread += 1) {
    add('/forum/viewtopic.php', [
      ['f', String(thread % 7)],
      ['t', String(thread)],
    ]);
    add('/forum/viewtopic.php', [
      ['f', String(thread % 7)],
      ['start', '20'],
      ['t', String(thread)],
    ]);
  }
  for (const locale of ['en', 'de', 'zh-CN', 'ar']) {
    for (const name of ['', 'about', 'contact', '登录', 'docs/getting-started', 'docs/v1.2/api']) {
      add(`/${locale}/${name}`);
    }
    add(`/${locale}/search`, [['q', 'https://example.com/?a=1&b=2']]);
    add(`/${locale}/search`, [['q', 'été; prix=1']]);
    add(`/${locale}/search`, [['Q', 'été; prix=1']]);
  }
  return pages;
}

/** One spelling of a piece of text: any unreserved or non-ASCII character may be a triplet. */
function spell(text: string, isQuery: boolean): string {
  let spelled = '';
  for (const char of text) {
    if (isQuery && char === ' ') spelled += chance(0.5) ? '+' : '%20';
    else if (/[A-Za-z0-9\-._~]/.test(char)) spelled += chance(0.04) ? triplets(char) : char;
    else spelled += triplets(char);
  }
  return spelled;
}

function triplets(char: string): string {
  const upper = Array.from(
    new TextEncoder().encode(char),
    (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('');
  return chance(0.5) ? upper.toLowerCase() : upper;
}

/** A segment that already holds `%2F` keeps it: it is another page than one with a slash. */
function spellSegment(segment: string): string {
  return segment
    .split(/(%2F)/)
    .map((part) => (part === '%2F' ? pick(['%2F', '%2f']) : spell(part, false)))
    .join('');
}

function spellPath(page: Page): string {
  let path = '';
  for (const segment of page.segments) {
    if (chance(0.05)) path += pick(['/.', '/x/..', '/%2e', '/y/%2E%2e', '/z/.%2e']);
    path += chance(0.07) ? pick(['//', '///', '/./']) : '/';
    path += spellSegment(segment);
  }
  return page.endsWithSlash || page.segments.length === 0 ? `${path}/` : path;
}

function spellQuery(page: Page, tracking: readonly string[]): string {
  const names = [...new Set(page.pairs.map(([name]) => name))];
  const order = shuffle(names);
  const queues = new Map(
    names.map((name) => [name, page.pairs.filter(([other]) => other === name)]),
  );
  const pieces = order.flatMap((name) =>
    (queues.get(name) ?? []).map(([, value]) => spellPair(name, value)),
  );
  for (let count = Math.floor(random() * 4); count > 0; count -= 1) {
    const name = pick(tracking);
    const cased = chance(0.2) ? name.toUpperCase() : name;
    pieces.splice(Math.floor(random() * (pieces.length + 1)), 0, spellPair(cased, pick(CLICK_IDS)));
  }
  if (chance(0.05)) pieces.push('');
  if (chance(0.05)) pieces.unshift('');
  return pieces.length === 0 ? pick(['', '', '', '?']) : `?${pieces.join('&')}`;
}

function spellPair(name: string, value: string): string {
  if (value === '') return spell(name, true) + pick(['', '=']);
  return `${spell(name, true)}=${spell(value, true)}`;
}

function shuffle<T>(list: readonly T[]): readonly T[] {
  return list
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

const CLICK_IDS = ['', 'EAIaIQobChMI', 'a b/c', 'x%y', 'newsletter&id=7', '12.34;x=1', 'été'];
const HOSTS = ['shop.example', 'SHOP.example', 'shop.example.', 'Shop.Example', 'shop.example:443'];

/** `page number, TAB, Host header, TAB, request target` a line. */
export function makeDirtyUrls(params: readonly TrackingParam[]): string {
  const tracking = params
    .filter(({ kind, risk }) => kind === 'exact' && risk === 'low')
    .map(({ name }) => name);
  const lines: string[] = [];
  for (const [number, page] of makePages().entries()) {
    for (let count = 0; count < SPELLINGS_PER_PAGE; count += 1) {
      lines.push(`${number}\t${pick(HOSTS)}\t${spellPath(page)}${spellQuery(page, tracking)}\n`);
    }
  }
  return shuffle(lines).join('');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const here = new URL('.', import.meta.url);
  const params: readonly TrackingParam[] = JSON.parse(
    readFileSync(new URL('tracking-params.json', here), 'utf8'),
  );
  writeFileSync(new URL('dirty-urls.tsv', here), makeDirtyUrls(params));
}
