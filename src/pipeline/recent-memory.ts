// What this process has lately learned about a page and should not learn again at once: that it
// fails, or that it is no page. Bounded; the oldest is forgotten first. Never needed for
// correctness.
import type { Clock } from './ports.ts';

export interface RecentMemory<T> {
  readonly get: (key: string) => T | null;
  /** Also a value whose time is over, as long as it was not forgotten. */
  readonly peek: (key: string) => T | null;
  readonly set: (key: string, value: T, forMs: number) => void;
  readonly forget: (key: string) => void;
  readonly forgetWhere: (isMeant: (key: string) => boolean) => void;
}

export function createRecentMemory<T>(clock: Clock, entriesMax: number): RecentMemory<T> {
  const entries = new Map<string, { readonly value: T; readonly until: number }>();
  return {
    get: (key) => {
      const entry = entries.get(key);
      return entry !== undefined && clock.now() < entry.until ? entry.value : null;
    },
    peek: (key) => entries.get(key)?.value ?? null,
    set: (key, value, forMs) => {
      entries.delete(key);
      entries.set(key, { value, until: clock.now() + forMs });
      for (const oldest of entries.keys()) {
        if (entries.size <= entriesMax) break;
        entries.delete(oldest);
      }
    },
    forget: (key) => void entries.delete(key),
    forgetWhere: (isMeant) => {
      for (const key of entries.keys()) if (isMeant(key)) entries.delete(key);
    },
  };
}
