// The product list with facets, order and pagination, and the product pages.
import {
  COLORS,
  formatPrice,
  PRODUCTS,
  type Product,
  type Selection,
  SIZES,
  selectProducts,
} from '../catalogue.ts';
import { type Exchange, readNumber, sendHtml, sendJson, sendMessage } from '../exchange.ts';
import { escapeHtml, renderPage } from '../html.ts';

/** `/products?color=&size=&sort=&page=` */
export function showProducts(exchange: Exchange): void {
  const { url } = exchange;
  const page = Math.max(1, readNumber(url, 'page', { default: 1, max: 1_000 }));
  const [color, size, sort] = ['color', 'size', 'sort'].map((name) => url.searchParams.get(name));
  const selection = { color: color ?? null, size: size ?? null, sort: sort ?? null, page };
  const { items, pages } = selectProducts(selection);
  if (items.length === 0) {
    sendMessage(exchange, 404, 'No such page of products');
    return;
  }
  const facets = [
    ...COLORS.map((value) => renderFacet(url, 'color', value)),
    ...SIZES.map((value) => renderFacet(url, 'size', value)),
    renderFacet(url, 'sort', 'price'),
  ];
  const numbers = Array.from({ length: pages }, (_, index) =>
    renderFacet(url, 'page', String(index + 1)),
  );
  sendHtml(
    exchange,
    renderPage({
      title: `Products, page ${page} of ${pages}`,
      description: `Teapots and what goes with them${color ? `, in ${color}` : ''}.`,
      canonical: withParameters(new URL('/products', url), selection).href,
      main: `<h1>Products</h1>
<p>${facets.join(' ')}</p>
<ul>
${items.map(renderItem).join('\n')}
</ul>
<p>Page ${numbers.join(' ')}</p>`,
    }),
  );
}

/** `/products/<slug>` */
export function showProduct(exchange: Exchange): void {
  const product = PRODUCTS.find(({ slug }) => exchange.url.pathname === `/products/${slug}`);
  if (product === undefined) {
    sendMessage(exchange, 404, 'No such product');
    return;
  }
  const canonical = new URL(`/products/${product.slug}`, exchange.url).href;
  sendHtml(
    exchange,
    renderPage({
      title: product.name,
      description: `${product.name} for ${formatPrice(product.priceCents)}.`,
      canonical,
      jsonLd: {
        '@type': 'Product',
        name: product.name,
        color: product.color,
        offers: {
          '@type': 'Offer',
          price: (product.priceCents / 100).toFixed(2),
          priceCurrency: 'USD',
          url: canonical,
        },
      },
      main: `<h1>${escapeHtml(product.name)}</h1>
<p>${formatPrice(product.priceCents)}</p>
<p><a href="/products?color=${product.color}&amp;ref=product">More in ${product.color}</a></p>`,
    }),
  );
}

/** `/api/products`: what the JavaScript-only page shows. */
export function listProducts(exchange: Exchange): void {
  sendJson(exchange, PRODUCTS.slice(0, 6), { 'cache-control': 'no-cache' });
}

function renderItem(product: Product): string {
  const href = `/products/${product.slug}?utm_source=list&amp;utm_content=${product.color}`;
  return `<li><a href="${href}">${escapeHtml(product.name)}</a> ${formatPrice(product.priceCents)}</li>`;
}

/** A link that changes one parameter and keeps whatever else the address had, as real shops do. */
function renderFacet(url: URL, name: string, value: string): string {
  const target = new URL(url);
  target.searchParams.set(name, value);
  if (name !== 'page') target.searchParams.delete('page');
  return `<a href="${escapeHtml(target.pathname + target.search)}">${value}</a>`;
}

function withParameters(target: URL, selection: Selection): URL {
  for (const [name, value] of Object.entries(selection)) {
    if (value === null || (name === 'page' && value === 1)) continue;
    target.searchParams.set(name, String(value));
  }
  return target;
}
