// The front page, and a page whose address is not ASCII.
import { type Exchange, sendHtml } from '../exchange.ts';
import { renderPage } from '../html.ts';

/** `/` */
export function showHome(exchange: Exchange): void {
  const canonical = new URL('/', exchange.url).href;
  sendHtml(
    exchange,
    renderPage({
      title: 'Teapots & Tales',
      description: 'Teapots for every story.',
      canonical,
      jsonLd: { '@type': 'WebSite', name: 'Teapots & Tales', url: canonical },
      main: `<h1>Teapots &amp; Tales</h1>
<img src="/assets/logo.png" alt="A teapot" width="64" height="64">
<p>Seen in the <a href="/blog/spring-tea?utm_source=newsletter&amp;utm_medium=email">newsletter</a>,
liked on a <a href="/products/teapot-blue-m?fbclid=IwAR1-demo">social network</a>,
found in an <a href="/products?color=blue&amp;gclid=EAIaI-demo">advertisement</a>.</p>
<p><a href="/%C3%BCber-uns">Über uns</a></p>`,
    }),
  );
}

/** `/über-uns` */
export function showAbout(exchange: Exchange): void {
  sendHtml(
    exchange,
    renderPage({
      title: 'Über uns',
      description: 'Wer wir sind: 茶, чай, thé.',
      canonical: new URL('/%C3%BCber-uns', exchange.url).href,
      main: '<h1>Über uns</h1><p>Wir trinken Tee: 茶, чай, thé, τσάι.</p>',
    }),
  );
}
