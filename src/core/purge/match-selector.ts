// Which pages a purge means. A path pattern is that of the URL rules, on the path of the normalized
// URL, so that a purge and a rule written alike mean the same pages under every spelling.
import { foldCase } from '../pattern/fold-case.ts';
import { type Pattern, type PatternError, parsePattern } from '../pattern/parse-pattern.ts';
import { err, type Result } from '../result.ts';
import { encodePathPattern } from '../url/encode-path.ts';
import type { PurgeSelector } from './purge-record.ts';

/** What is known of a page that may be meant. */
export interface PurgeablePage {
  readonly hostId: number;
  /** Normalized. */
  readonly url: string;
  /** Absent: none. null: not known yet, so that it may have any. */
  readonly tags?: readonly string[] | null | undefined;
}

export type SelectorTest = (page: PurgeablePage) => boolean;

/** Compiles a selector into a predicate. A pattern that can't be read means every path. */
export function compileSelector(selector: PurgeSelector): SelectorTest {
  switch (selector.kind) {
    case 'url':
      return (page) => page.url === selector.url;
    case 'pattern': {
      const matchesPath = compilePathTest(selector.pattern);
      return (page) => isOfHost(page, selector.hostId) && matchesPath(pathOf(page.url));
    }
    case 'tag':
      return (page) => isOfHost(page, selector.hostId) && mayHaveTag(page, selector.tag);
    case 'host':
      return (page) => page.hostId === selector.hostId;
    case 'all':
      return () => true;
  }
}

/** A path as it is compared with patterns; folded once for all of them. */
export interface FoldedPath {
  readonly path: string;
  readonly folded: string;
}

/** @param url normalized */
export function pathOf(url: string): FoldedPath {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  const query = url.indexOf('?', start);
  const path = url.slice(start, query === -1 ? undefined : query);
  return { path, folded: foldCase(path) };
}

export function compilePathTest(source: string): (path: FoldedPath) => boolean {
  const pattern = parsePathPattern(source);
  return pattern.ok ? ({ path, folded }) => pattern.value.matches(path, folded) : () => true;
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
