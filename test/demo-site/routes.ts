// Which address of the demo site is answered by whom.
import { fail, redirect, showGone } from './behaviours/answers.ts';
import { showLogo, showStyles } from './behaviours/assets.ts';
import {
  echoHeaders,
  login,
  showAccount,
  showShiftJis,
  varyByAnything,
  varyByDevice,
  varyByLanguage,
} from './behaviours/personal.ts';
import { answerSlowly, download, receiveUpload, streamEvents } from './behaviours/streams.ts';
import type { Handler } from './exchange.ts';
import { showApp, showAppScript } from './pages/app.ts';
import { showBlog, showFeed, showPost, showRobots, showSitemap } from './pages/blog.ts';
import { showAbout, showHome } from './pages/home.ts';
import { listProducts, showProduct, showProducts } from './pages/shop.ts';

export interface Route {
  readonly methods: readonly string[];
  readonly handle: Handler;
}

const PAGE_METHODS = ['GET', 'HEAD'];
const ANY_METHOD = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

const PAGES: Readonly<Record<string, Handler>> = {
  '/': showHome,
  '/%C3%BCber-uns': showAbout,
  '/products': showProducts,
  '/api/products': listProducts,
  '/blog': showBlog,
  '/feed.xml': showFeed,
  '/sitemap.xml': showSitemap,
  '/robots.txt': showRobots,
  '/app': showApp,
  '/assets/app.js': showAppScript,
  '/assets/site.css': showStyles,
  '/assets/logo.png': showLogo,
  '/gone': showGone,
  '/login': login,
  '/account': showAccount,
  '/vary/language': varyByLanguage,
  '/vary/device': varyByDevice,
  '/vary/any': varyByAnything,
  '/shift-jis': showShiftJis,
  '/slow': answerSlowly,
  '/events': streamEvents,
  '/download': download,
};

const FAMILIES: readonly (readonly [string, Handler])[] = [
  ['/products/', showProduct],
  ['/blog/', showPost],
  ['/app/', showApp],
  ['/redirect/', redirect],
  ['/error/', fail],
];

/** The route of a path, or undefined when there is nothing there. */
export function findRoute(path: string): Route | undefined {
  if (path === '/headers') return { methods: ANY_METHOD, handle: echoHeaders };
  if (path === '/upload') return { methods: ['POST', 'PUT'], handle: receiveUpload };
  const page = Object.hasOwn(PAGES, path) ? PAGES[path] : undefined;
  const handle = page ?? FAMILIES.find(([prefix]) => path.startsWith(prefix))?.[1];
  return handle === undefined ? undefined : { methods: PAGE_METHODS, handle };
}
