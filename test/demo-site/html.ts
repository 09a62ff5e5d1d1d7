// The frame that all pages of the demo site share: head with canonical and description, navigation
// with the tracking parameters that newsletters and advertisements leave in real links.
export interface PageContent {
  readonly title: string;
  readonly description: string;
  /** Absolute address that search engines should keep. */
  readonly canonical: string;
  readonly main: string;
  readonly jsonLd?: Readonly<Record<string, unknown>>;
}

const NAVIGATION = [
  ['Home', '/'],
  ['Shop', '/products?utm_source=site&utm_medium=nav&utm_campaign=spring'],
  ['Sale', '/products?sort=price&gclid=Cj0KCQiA-demo'],
  ['Blog', '/blog?fbclid=IwAR0-demo'],
  ['App', '/app'],
] as const;

/** A whole document. Texts of `main` are the caller's to escape. */
export function renderPage(page: PageContent): string {
  const links = NAVIGATION.map(([text, href]) => `<a href="${escapeHtml(href)}">${text}</a>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(page.title)}</title>
<meta name="description" content="${escapeHtml(page.description)}">
<link rel="canonical" href="${escapeHtml(page.canonical)}">
<link rel="icon" href="/assets/logo.png">
<link rel="stylesheet" href="/assets/site.css">
<link rel="alternate" type="application/atom+xml" href="/feed.xml">
${page.jsonLd === undefined ? '' : renderJsonLd(page.jsonLd)}</head>
<body>
<nav>${links.join(' ')}</nav>
<main>
${page.main}
</main>
<footer>Teapots &amp; Tales, a demo shop</footer>
</body>
</html>
`;
}

/** `<` is written as an escape, so that no text can end the script element. */
function renderJsonLd(value: Readonly<Record<string, unknown>>): string {
  const json = JSON.stringify({ '@context': 'https://schema.org', ...value });
  return `<script type="application/ld+json">${json.replaceAll('<', '\\u003c')}</script>\n`;
}

/** Text made safe for element content and quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
