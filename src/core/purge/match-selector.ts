// Which pages a purge means. A path pattern is that of the URL rules, on the path of the normalized
// URL, so that a purge and a rule written alike mean the same pages under every spelling.
import { compileSamePage } from '../learned/same-page.ts';
import { foldCase } from '../pattern/fold-case.ts';
import { type Pattern, type PatternError, parsePattern } from '../pattern/parse-pattern.ts';
import { err, type Result } from '../result.ts';
import { encodePathPattern } from '../url/encode-path.ts';
import type { PurgeSelector } from './purge-record.ts';

/** What is known of a page that may be meant. */
export interface PurgeablePage {
  readonly hostId: number;
  readonly dimensionId: number;
  /** Normalized. */
  readonly url: string;
  /** Absent: none. null: not known, so that it may have any. */
  readonly tags?: readonly string[] | null | undefined;
}

export type SelectorTest = (page: PurgeablePage) => boolean;

/** Compiles a selector into a predicate. */
export function compileSelector(selector: PurgeSelector): SelectorTest {
  switch (selector.kind) {
    case 'url': {
      const isSamePage = compileSamePage(selector.url, selector.learned ?? null);
      const { dimensionId = null } = selector;
      return (page) =>
        (dimensionId === null || page.dimensionId === dimensionId) && isSamePage(page.url);
    }
    case 'pattern': {
      const matchesPath = compilePathTest(selector.pattern);
      return (page) => isOfHost(page, selector.hostId) && matchesPath(page.url);
    }
    case 'tag':
      return (page) => isOfHost(page, selector.hostId) && mayHaveTag(page, selector.tag);
    case 'host':
      return (page) => page.hostId === selector.hostId;
    case 'all':
      return () => true;
  }
}

/** A pattern that can't be read, of a later version or damaged, matches every path. */
function compilePathTest(source: string): (url: string) => boolean {
  const parsed = parsePathPattern(source);
  if (!parsed.ok) return () => true;
  const pattern = parsed.value;
  return (url) => {
    const path = pathOf(url);
    return pattern.matches(path, foldCase(path));
  };
}

/** @param url normalized */
function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  const query = url.indexOf('?', start);
  return url.slice(start, query === -1 ? undefined : query);
}

/** A path pattern as somebody writes it; refused when no path can match it. */
export function parsePathPattern(source: string): Result<Pattern, PatternError> {
  if (!/^(?:[/*~]|$)/.test(source)) {
    return err({ message: `"${source}" matches no path`, hint: `write "/${source}"` });
  }
  if (!source.startsWith('~') && source.includes('?')) {
    return err({ message: 'a path never contains "?"', hint: 'leave out the query' });
  }
  return parsePattern(encodePathPattern(source));
}

function isOfHost(page: PurgeablePage, hostId: number | null): boolean {
  return hostId === null || page.hostId === hostId;
}

function mayHaveTag({ tags }: PurgeablePage, tag: string): boolean {
  return tags === null || tags?.includes(tag) === true;
}
