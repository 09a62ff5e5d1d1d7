// Which of a page's requests are not worth making: types and URL patterns of the policy. Patterns
// see host and path, never the query, so that `?via=twitter.com` blocks nothing; the page's own
// document is never asked about here.

import type { RenderRequest } from '../../core/http/render-request.ts';
import { type Pattern, parsePattern } from '../../core/pattern/parse-pattern.ts';
import { compilePatternSet } from '../../core/pattern/pattern-set.ts';
import { remember } from '../../core/remember.ts';

/** Whether a request is left out. `type` is Chromium's resource type. */
export type RequestFilter = (type: string, url: string) => boolean;

/** What the policy's words mean in Chromium's. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  beacon: ['ping'],
  iframe: ['document'],
  frame: ['document'],
  xhr: ['xhr', 'fetch'],
};

/**
 * Compiles the lists of one request; what is no pattern blocks nothing, as it can match nothing.
 */
export function compileRequestFilter(
  request: Pick<RenderRequest, 'blocked_resource_types' | 'blocked_patterns'>,
): RequestFilter {
  const types = new Set(
    request.blocked_resource_types.flatMap((word) => {
      const folded = word.toLowerCase();
      return Object.hasOwn(TYPES, folded) ? (TYPES[folded] ?? []) : [folded];
    }),
  );
  const patterns = request.blocked_patterns.flatMap((source): readonly Pattern[] => {
    const parsed = parsePattern(source);
    return parsed.ok ? [parsed.value] : [];
  });
  const set = compilePatternSet(patterns, (pattern) => pattern);
  const isBlocked = remember((text) => set.find(text) !== undefined);
  return (type, url) => types.has(type.toLowerCase()) || isBlocked(hostAndPath(url));
}

/** `https://a.example:8443/x/y?z#f` → `a.example/x/y`. */
function hostAndPath(url: string): string {
  const [, host = '', path = ''] = /^[a-z]+:\/\/([^/?#:]+)(?::\d+)?([^?#]*)/i.exec(url) ?? [];
  return host + path;
}
