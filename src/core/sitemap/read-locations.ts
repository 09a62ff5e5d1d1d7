// Reads the addresses out of a sitemap or sitemap index, piece by piece and in time linear in its
// length. Tolerant of what sitemaps are in practice; of XML it knows only what they need. Nothing
// is ever expanded: a document type, where entities would be declared, is refused.
import { decodeEntities } from './decode-entities.ts';

export type SitemapKind = 'index' | 'pages';

/** What is wrong with a sitemap, as a sentence. */
export class SitemapError extends Error {}

interface Special {
  readonly start: string;
  readonly end: string;
  readonly isText: boolean;
}

/** What a `<` may begin besides a tag. */
const SPECIAL: readonly Special[] = [
  { start: '<!--', end: '-->', isText: false },
  { start: '<![CDATA[', end: ']]>', isText: true },
  { start: '<?', end: '?>', isText: false },
];

const TAG_CHARS_MAX = 8_192;
const LOCATION_CHARS_MAX = 65_536;

export class LocationReader {
  #buffer = '';
  #inside: Special | null = null;
  #kind: SitemapKind | null = null;
  #locationName = '';
  #location: string | null = null;
  #found: string[] = [];

  /** null: nothing that would say so has come yet. */
  get kind(): SitemapKind | null {
    return this.#kind;
  }

  /** The addresses that are complete by now. Throws a `SitemapError` for what is no sitemap. */
  feed(text: string): readonly string[] {
    this.#buffer += text;
    this.#found = [];
    while (this.#step());
    return this.#found;
  }

  /** @returns false: more is needed to go on */
  #step(): boolean {
    if (this.#inside !== null) return this.#readSpecial(this.#inside);
    return this.#buffer.startsWith('<') ? this.#readMarkup() : this.#readText();
  }

  #readText(): boolean {
    const at = this.#buffer.indexOf('<');
    this.#addText(this.#take(at === -1 ? this.#buffer.length : at));
    return at !== -1;
  }

  #readSpecial({ end, isText }: Special): boolean {
    const at = this.#buffer.indexOf(end);
    // Its end may lie across two pieces.
    const text = this.#take(at === -1 ? Math.max(0, this.#buffer.length - end.length + 1) : at);
    if (isText) this.#addText(text.replaceAll('&', '&amp;'));
    if (at === -1) return false;
    this.#take(end.length);
    this.#inside = null;
    return true;
  }

  #readMarkup(): boolean {
    for (const special of SPECIAL) {
      if (this.#buffer.startsWith(special.start)) {
        this.#take(special.start.length);
        this.#inside = special;
        return true;
      }
      if (special.start.startsWith(this.#buffer)) return false;
    }
    if (this.#buffer.startsWith('<!')) throw new SitemapError('it declares a document type');
    const end = findTagEnd(this.#buffer);
    if (end === -1) {
      if (this.#buffer.length <= TAG_CHARS_MAX) return false;
      throw new SitemapError('a tag that does not end');
    }
    this.#readTag(this.#take(end + 1));
    return true;
  }

  #readTag(tag: string): void {
    const [, slash = '', name = ''] = /^<(\/?)([^\s/>]*)/.exec(tag) ?? [];
    if (this.#kind === null) {
      this.#kind = kindOf(name);
      this.#locationName = `${name.slice(0, name.indexOf(':') + 1)}loc`;
    } else if (name === this.#locationName) {
      const address = slash === '' ? '' : decodeEntities(this.#location ?? '').trim();
      this.#location = slash === '' && !tag.endsWith('/>') ? '' : null;
      if (address !== '') this.#found.push(address);
    }
  }

  #addText(text: string): void {
    if (this.#location === null) return;
    this.#location += text;
    if (this.#location.length > LOCATION_CHARS_MAX) throw new SitemapError('a <loc> too long');
  }

  #take(chars: number): string {
    const taken = this.#buffer.slice(0, chars);
    this.#buffer = this.#buffer.slice(chars);
    return taken;
  }
}

function kindOf(rootName: string): SitemapKind {
  const local = rootName.slice(rootName.indexOf(':') + 1);
  if (local === 'sitemapindex') return 'index';
  if (local === 'urlset') return 'pages';
  throw new SitemapError(
    `it begins with <${rootName.slice(0, 40)}>, not <urlset> or <sitemapindex>`,
  );
}

/** Of the tag at the beginning; an attribute's value may hold `>`. */
function findTagEnd(text: string): number {
  let quote = '';
  for (let index = 1; index < text.length; index += 1) {
    const char = text[index];
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if (char === '"' || char === "'") {
      quote = char;
    } else if (char === '>') {
      return index;
    }
  }
  return -1;
}
