// The tags that a page names itself: `<meta name="edge-gateway-tags" content="a, b">`. One pass
// over the beginning of its HTML, each character looked at a bounded number of times: pages come
// from outside, and no page may hold the process up.

/** Names under which a page may say its tags. */
const NAMES: ReadonlySet<string> = new Set(['edge-gateway-tags', 'cache-tag', 'surrogate-key']);
/** Elements whose content is text, whatever it looks like. */
const TEXT_ELEMENTS: ReadonlySet<string> = new Set(['script', 'style', 'textarea', 'title']);
/** Nothing that is looked for comes behind these. */
const HEAD_ENDS: ReadonlySet<string> = new Set(['/head', 'body']);

const TAG_NAME = /<(\/?[a-zA-Z][^\s/>]*)/y;
const ATTRIBUTE = /[\s/]*([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/y;

/** How much of a page is looked at, in bytes. */
export const HEAD_BYTES_MAX = 65_536;

/**
 * The contents of the page's tag metas, in order.
 *
 * @param head the beginning of the HTML; tags are ASCII, so latin1 will do
 */
export function readMetaTags(head: string): readonly string[] {
  const folded = head.toLowerCase();
  const found: string[] = [];
  let at = head.indexOf('<');
  while (at !== -1) {
    const next = head.startsWith('<!--', at)
      ? findBehind(folded, '-->', at + 4)
      : readElement(head, folded, at, found);
    if (next === null) break;
    at = head.indexOf('<', next);
  }
  return found;
}

/** @returns where to go on; null: nothing more can come */
function readElement(head: string, folded: string, at: number, found: string[]): number | null {
  TAG_NAME.lastIndex = at;
  const name = TAG_NAME.exec(head)?.[1]?.toLowerCase();
  if (name === undefined) return at + 1;
  if (HEAD_ENDS.has(name)) return null;
  const attributes = readAttributes(head, TAG_NAME.lastIndex);
  if (TEXT_ELEMENTS.has(name)) return findBehind(folded, `</${name}`, attributes.end);
  const content = attributes.values.get('content');
  if (name === 'meta' && content !== undefined) {
    if (NAMES.has(attributes.values.get('name')?.toLowerCase() ?? '')) found.push(content);
  }
  return attributes.end;
}

/** Of attributes with one name the first counts. */
function readAttributes(
  head: string,
  from: number,
): { readonly values: ReadonlyMap<string, string>; readonly end: number } {
  const values = new Map<string, string>();
  let end = from;
  for (;;) {
    ATTRIBUTE.lastIndex = end;
    const match = ATTRIBUTE.exec(head);
    if (match === null) return { values, end };
    end = ATTRIBUTE.lastIndex;
    const [, name = '', double, single, bare] = match;
    const folded = name.toLowerCase();
    if (!values.has(folded)) values.set(folded, double ?? single ?? bare ?? '');
  }
}

function findBehind(text: string, what: string, from: number): number | null {
  const found = text.indexOf(what, from);
  return found === -1 ? null : found + what.length;
}
