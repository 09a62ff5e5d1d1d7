// A small blog, with its feed and the site map that lists everything.
import { PRODUCTS } from '../catalogue.ts';
import { type Exchange, send, sendHtml, sendMessage } from '../exchange.ts';
import { escapeHtml, renderPage } from '../html.ts';

const POSTS = [
  { slug: 'spring-tea', title: 'Spring tea', date: '2026-03-20', text: 'Pick it early.' },
  { slug: 'water', title: 'Water matters', date: '2026-02-11', text: 'Soft & cold to begin with.' },
  { slug: 'cups', title: 'Cups < bowls?', date: '2026-01-05', text: 'A matter of temper.' },
] as const;

/** `/blog` */
export function showBlog(exchange: Exchange): void {
  const items = POSTS.map(
    ({ slug, title }) =>
      `<li><a href="/blog/${slug}?mc_cid=demo&amp;mc_eid=demo">${escapeHtml(title)}</a></li>`,
  );
  sendHtml(
    exchange,
    renderPage({
      title: 'Blog',
      description: 'Tales about tea.',
      canonical: new URL('/blog', exchange.url).href,
      main: `<h1>Blog</h1>\n<ul>\n${items.join('\n')}\n</ul>`,
    }),
  );
}

/** `/blog/<slug>` */
export function showPost(exchange: Exchange): void {
  const post = POSTS.find(({ slug }) => exchange.url.pathname === `/blog/${slug}`);
  if (post === undefined) {
    sendMessage(exchange, 404, 'No such story');
    return;
  }
  sendHtml(
    exchange,
    renderPage({
      title: post.title,
      description: post.text,
      canonical: new URL(`/blog/${post.slug}`, exchange.url).href,
      jsonLd: { '@type': 'BlogPosting', headline: post.title, datePublished: post.date },
      main: `<article><h1>${escapeHtml(post.title)}</h1><p>${escapeHtml(post.text)}</p></article>`,
    }),
    { 'last-modified': new Date(`${post.date}T00:00:00Z`).toUTCString() },
  );
}

/** `/feed.xml` */
export function showFeed(exchange: Exchange): void {
  const entries = POSTS.map(
    ({ slug, title, date }) =>
      `<entry><title>${escapeHtml(title)}</title><id>${locate(exchange, `/blog/${slug}`)}</id>` +
      `<updated>${date}T00:00:00Z</updated></entry>`,
  );
  sendXml(
    exchange,
    'application/atom+xml',
    `<feed xmlns="http://www.w3.org/2005/Atom"><title>Teapots &amp; Tales</title>
<id>${locate(exchange, '/')}</id><updated>2026-03-20T00:00:00Z</updated>
${entries.join('\n')}
</feed>`,
  );
}

/** `/sitemap.xml` */
export function showSitemap(exchange: Exchange): void {
  const paths = [
    '/',
    '/products',
    '/blog',
    ...PRODUCTS.map(({ slug }) => `/products/${slug}`),
    ...POSTS.map(({ slug }) => `/blog/${slug}`),
  ];
  const locations = paths.map((path) => `<url><loc>${locate(exchange, path)}</loc></url>`);
  sendXml(
    exchange,
    'application/xml',
    `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${locations.join('\n')}
</urlset>`,
  );
}

/** `/robots.txt` */
export function showRobots(exchange: Exchange): void {
  const text = `User-agent: *\nDisallow: /account\nSitemap: ${locate(exchange, '/sitemap.xml')}\n`;
  send(exchange, 200, { 'content-type': 'text/plain; charset=utf-8' }, Buffer.from(text));
}

function sendXml(exchange: Exchange, type: string, xml: string): void {
  const body = Buffer.from(`<?xml version="1.0" encoding="utf-8"?>\n${xml}\n`);
  send(exchange, 200, { 'content-type': type }, body);
}

function locate(exchange: Exchange, path: string): string {
  return new URL(path, exchange.url).href;
}
