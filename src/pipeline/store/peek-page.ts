// The one place that decides whether a page may be served from this process's memory: only while
// the store certainly still has it, and every purge is known. Everything here is synchronous, and
// nobody is asked.
import { freshnessAt } from '../../core/http/freshness.ts';
import { settleEntry } from '../../core/purge/settle-entry.ts';
import type { CacheKey, Entry } from '../ports.ts';
import type { HeldBodies } from './memory-tier.ts';
import type { PageStoreDeps } from './page-store-deps.ts';

export interface PeekedPage {
  readonly entry: Entry;
  readonly freshness: 'fresh' | 'stale';
  /** Those that are in memory. */
  readonly bodies: HeldBodies;
}

/** @returns null where the store has to be asked */
export function peekPage(key: CacheKey, url: string, deps: PageStoreDeps): PeekedPage | null {
  const held = deps.memory.find(key);
  if (held === null || held.entry.url !== url) return null;
  if (!deps.journal.isCaughtUp() || !deps.entries.isCurrent(key, held.stamp)) return null;
  const entry = settleEntry(held.entry, deps.journal.judge(held.entry), deps.clock.now());
  if (entry === null) return null;
  const freshness = freshnessAt(entry, deps.clock.now());
  if (freshness === 'expired') return null;
  return { entry, freshness, bodies: held.bodies };
}
