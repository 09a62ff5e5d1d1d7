// One expression for everybody for whom pages are rendered, for servers in front that tell crawlers
// from people. It may name too many, since the gateway decides for itself, but never too few. It is
// the same to PCRE, RE2, POSIX and JavaScript, and needs no quoting in the files of any server.
import { expandPattern, GAP, START } from '../pattern/expand-pattern.ts';
import type { HostPolicy } from '../policy/policy.ts';
import { dimensionsOf } from '../routing/dimensions-of.ts';

/** What most crawlers have in their names; Cubot makes phones. */
const WORDS = ['(^u?|[^u]|[^c]u)bot', 'crawl', 'spider', 'preview', 'external', '-user'];

/** A name that has one of the words in it, whatever stands before the name. */
const HAS_WORD = new RegExp(['[^u]bot', '[^c]ubot', ...WORDS.slice(1)].join('|'));

/** Matches every User-Agent. */
const EVERYBODY = '^';

/** Made of texts that all have to be there, in this order. */
type Name = readonly string[];

/** @returns an expression to be used without case */
export function buildCrawlerPattern(hosts: readonly HostPolicy[]): string {
  if (hosts.some(({ unmatched }) => unmatched !== 'block' && unmatched.action === 'render')) {
    return EVERYBODY;
  }
  const patterns = hosts
    .flatMap(dimensionsOf)
    .filter(({ action }) => action === 'render')
    .flatMap(({ matchUserAgent }) => matchUserAgent)
    .map((pattern) => ({ ...pattern, spellings: expandPattern(pattern) }));
  // What is not understood stands as it is.
  const others = patterns
    .filter(({ spellings }) => spellings === null)
    .map(({ source }) => `(${source.replace(/^~\*?/, '')})`);
  const names = patterns
    .flatMap(({ spellings }) => spellings ?? [])
    .map((spelling) => spelling.split(GAP).map(writePlain).filter(isText))
    .filter((name) => !name.some((text) => HAS_WORD.test(text)));
  if (names.some((name) => name.length === 0)) return EVERYBODY;
  return [...WORDS, ...coverNames(names), ...new Set(others)].join('|');
}

/** In characters that mean themselves everywhere; a dot stands for any other. */
function writePlain(text: string): string {
  const start = text.lastIndexOf(START);
  const plain = text.slice(start + 1).toLowerCase();
  return (start === -1 ? '' : '^') + plain.replaceAll(/[^a-z\d_-]/g, '.');
}

function isText(text: string): boolean {
  return text !== '' && text !== EVERYBODY;
}

/** Texts, one of which is in each name, and none in another. */
function coverNames(names: readonly Name[]): readonly string[] {
  const certain = names.flatMap((name) => (name.length === 1 ? name : []));
  const open = names.filter((name) => !name.some((text) => certain.some((one) => has(text, one))));
  const texts = new Set([...certain, ...open.map(pickLongest)]);
  const isNeeded = (text: string): boolean =>
    ![...texts].some((one) => one !== text && has(text, one));
  return [...texts].filter(isNeeded).toSorted();
}

function pickLongest(name: Name): string {
  return name.reduce((longest, text) => (text.length > longest.length ? text : longest));
}

function has(text: string, part: string): boolean {
  return part.startsWith('^') ? text.startsWith(part) : text.includes(part);
}
