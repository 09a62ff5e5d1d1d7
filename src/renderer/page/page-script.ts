// What runs inside the page, as text: in a world of its own, so that nothing the page has replaced
// (querySelector, JSON, arrays) can change what is captured. It works on the live document, which
// is thrown away right after, and leaves what it does not have to touch.

/** What the script answers. */
export interface CapturedDom {
  /** null: larger than the cap. */
  readonly html: string | null;
  readonly url: string;
  readonly statusMeta: string | null;
  readonly headerMetas: readonly string[];
}

/** Rules that only exist in memory become text: insertRule, adoptedStyleSheets. */
const INLINE_STYLES = String.raw`
const closeSafely = (text, name) => text.replace(new RegExp('</(' + name + ')', 'gi'), '<\\/$1');
const rulesOf = (sheet) => Array.from(sheet.cssRules, (rule) => rule.cssText).join('\n');
const inlineStyles = (scope) => {
  for (const style of scope.querySelectorAll('style')) {
    if (style.sheet === null || style.sheet.disabled) continue;
    const written = new CSSStyleSheet();
    written.replaceSync(style.textContent);
    const live = rulesOf(style.sheet);
    const isSame = live === rulesOf(written);
    const text = closeSafely(isSame ? style.textContent : live, 'style');
    if (text !== style.textContent) style.textContent = text;
  }
  for (const sheet of scope.adoptedStyleSheets) {
    if (sheet.disabled || sheet.cssRules.length === 0) continue;
    const style = document.createElement('style');
    if (sheet.media.mediaText !== '') style.media = sheet.media.mediaText;
    style.textContent = closeSafely(rulesOf(sheet), 'style');
    (scope === document ? document.head ?? document.documentElement : scope).append(style);
  }
};`;

/** What would run is dropped; data blocks, templates and import maps stay. */
const STRIP_SCRIPTS = String.raw`
const SCRIPT_TYPE = new RegExp(
  '^(?:|module|(?:text|application)/(?:x-)?(?:javascript|ecmascript)' +
  '|text/(?:jscript|livescript|javascript1[.][0-5]))$', 'i');
const SCRIPT_LINKS = ['preload', 'prefetch']
  .map((rel) => 'link[rel~="' + rel + '" i][as="script" i]')
  .concat(['modulepreload', 'import'].map((rel) => 'link[rel~="' + rel + '" i]')).join(',');
const isHandler = (element, name) => /^on[a-z]+$/.test(name) && (name in element || name in window);
const isScriptUrl = (value) =>
  value.replace(/[\u0000-\u0020]/g, '').slice(0, 11).toLowerCase() === 'javascript:';
const URL_NAMES = ['href', 'src', 'action', 'formaction', 'data', 'xlink:href'];
const stripScripts = (scope) => {
  for (const script of scope.querySelectorAll('script')) {
    const type = (script.getAttribute('type') ?? '').trim();
    if (SCRIPT_TYPE.test(type)) script.remove();
  }
  for (const link of scope.querySelectorAll(SCRIPT_LINKS)) link.remove();
  for (const element of scope.querySelectorAll('*')) {
    for (const name of element.getAttributeNames()) {
      const isUrl = URL_NAMES.includes(name) && isScriptUrl(element.getAttribute(name));
      if (isUrl || isHandler(element, name)) element.removeAttribute(name);
    }
  }
};`;

const SERIALISE = String.raw`
const findRoots = (scope, roots) => {
  const walker = document.createTreeWalker(scope, NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.shadowRoot === null || node.shadowRoot === undefined) continue;
    roots.push(node.shadowRoot);
    findRoots(node.shadowRoot, roots);
  }
  return roots;
};
const correctCharset = () => {
  for (const meta of document.querySelectorAll('meta[charset]')) {
    meta.setAttribute('charset', 'utf-8');
  }
  for (const meta of document.querySelectorAll('meta[http-equiv="content-type" i]')) {
    meta.setAttribute('content', 'text/html; charset=utf-8');
  }
};
const serialise = (roots) => Array.from(document.childNodes, (node) => {
  if (node.nodeType === Node.DOCUMENT_TYPE_NODE) return new XMLSerializer().serializeToString(node);
  if (node.nodeType === Node.COMMENT_NODE) return '<!--' + node.data + '-->';
  if (node !== document.documentElement) return '';
  const shell = node.cloneNode(false).outerHTML;
  const end = shell.lastIndexOf('</');
  const [open, close] = end === -1 ? [shell, ''] : [shell.slice(0, end), shell.slice(end)];
  return open + node.getHTML({ shadowRoots: roots }) + close;
}).join('');
const metaContents = (name) => Array.from(
  (document.head ?? document).querySelectorAll('meta[name="' + name + '" i]'),
  (meta) => meta.getAttribute('content') ?? '');`;

/** The expression that captures the document; its value is a CapturedDom. */
export function captureExpression(options: {
  readonly stripScripts: boolean;
  readonly htmlCharsMax: number;
}): string {
  return `(() => {
${INLINE_STYLES}
${STRIP_SCRIPTS}
${SERIALISE}
const roots = findRoots(document, []);
const scopes = [document, ...roots];
const metas = {
  statusMeta:
    metaContents('prerender-status-code')[0] ?? metaContents('render:status_code')[0] ?? null,
  headerMetas: metaContents('prerender-header').slice(0, 50),
};
for (const scope of scopes) {
  inlineStyles(scope);
  if (${String(options.stripScripts)}) stripScripts(scope);
  for (const script of scope.querySelectorAll('script')) {
    const text = closeSafely(script.textContent, 'script');
    if (text !== script.textContent) script.textContent = text;
  }
}
correctCharset();
const html = serialise(roots);
return { ...metas, url: document.URL, html: html.length > ${options.htmlCharsMax} ? null : html };
})()`;
}

/** The expression that asks a page, in its own world, whether it says it is not ready. */
export function readyExpression(selector: string | null): string {
  const hasSelector =
    selector === null ? 'true' : `document.querySelector(${JSON.stringify(selector)}) !== null`;
  return `(typeof prerenderReady === 'undefined' || prerenderReady !== false) && ${hasSelector}`;
}

/** The expression whose value is the height of the page's content. */
export const HEIGHT_EXPRESSION =
  '(document.scrollingElement ?? document.documentElement ?? { scrollHeight: 0 }).scrollHeight';

/** The expression whose promise is kept when the page has been drawn and told what is in view. */
export const FRAMES_EXPRESSION = `new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))`;
