// What a client asks of a cache (RFC 9111 §5.2.1). It may ask for a validated answer; it can't make
// us fetch more often than it asks, since all who ask at once share one fetch.
import { parseCacheControl } from '../cache-control.ts';
import { type HeaderList, headerValues } from '../header-list.ts';
import { parseSeconds } from './response-directives.ts';

export interface RequestDirectives {
  readonly noStore: boolean;
  readonly noCache: boolean;
  readonly onlyIfCached: boolean;
  /** Seconds; null: not said. */
  readonly maxAge: number | null;
  readonly minFresh: number | null;
  /** `any`: however stale. */
  readonly maxStale: number | 'any' | null;
}

export function readRequestDirectives(headers: HeaderList): RequestDirectives {
  const lines = headerValues(headers, 'cache-control');
  // RFC 9111 §5.4: Pragma is for caches that know nothing better, and only where that is missing.
  const source = lines.length > 0 ? lines : headerValues(headers, 'pragma');
  const directives = new Map(
    source.flatMap(parseCacheControl).map(({ name, argument }) => [name, argument]),
  );
  const has = (name: string): boolean => directives.has(name);
  const seconds = (name: string): number | null => parseSeconds(directives.get(name) ?? null);
  return {
    noStore: lines.length > 0 && has('no-store'),
    noCache: has('no-cache'),
    onlyIfCached: lines.length > 0 && has('only-if-cached'),
    maxAge: lines.length > 0 ? seconds('max-age') : null,
    minFresh: lines.length > 0 ? seconds('min-fresh') : null,
    maxStale: lines.length > 0 && has('max-stale') ? (seconds('max-stale') ?? 'any') : null,
  };
}

/** Whether the request wants more than an answer that is fresh. */
export function isDemanding({ noCache, maxAge, minFresh }: RequestDirectives): boolean {
  return noCache || maxAge !== null || minFresh !== null;
}
