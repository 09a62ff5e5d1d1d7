// The three instants of an entry, and what they say at a given time. A stored instant is never
// trusted blindly: a clock that moved, or a damaged value, makes an entry older, never younger.

export interface Instants {
  /** Epoch milliseconds: fresh until staleAt, servable as stale until deleteAt. */
  readonly cachedAt: number;
  readonly staleAt: number;
  readonly deleteAt: number;
}

export interface Lifetime {
  readonly ttlMs: number;
  /** How long it may be served after that; 0 for the strategy `delete`. */
  readonly staleTtlMs: number;
  /** Fraction of the ttl, 0 to 0.5, by which it may differ either way. */
  readonly jitter: number;
}

export type Freshness = 'fresh' | 'stale' | 'expired';

/** How far the clocks of two gateways may lie apart before an entry from the future is doubted. */
const CLOCK_SKEW_MS_MAX = 60_000;
/** No entry is believed to live longer. */
const LIFETIME_MS_MAX = 10 * 365 * 86_400_000;

/**
 * Sets the three instants of a page stored now.
 *
 * @param random 0 to 1, from the caller: spreads the expiry of pages stored in the same second
 */
export function startLifetime(now: number, lifetime: Lifetime, random: number): Instants {
  const spread = 1 + lifetime.jitter * (2 * random - 1);
  const staleAt = now + Math.round(lifetime.ttlMs * spread);
  return { cachedAt: now, staleAt, deleteAt: staleAt + lifetime.staleTtlMs };
}

/** What an entry is at `now`. Instants that contradict each other are `expired`. */
export function freshnessAt(entry: Instants, now: number): Freshness {
  const { cachedAt, staleAt, deleteAt } = entry;
  const isOrdered = cachedAt >= 0 && cachedAt <= staleAt && staleAt <= deleteAt;
  if (!isOrdered || deleteAt - cachedAt > LIFETIME_MS_MAX) return 'expired';
  if (now >= deleteAt) return 'expired';
  // The clock moved backwards since it was stored: its real age is unknown.
  if (cachedAt > now + CLOCK_SKEW_MS_MAX) return 'stale';
  return now < staleAt ? 'fresh' : 'stale';
}

/** Whole seconds since it was stored, for `Age`; never negative. */
export function ageSeconds(entry: Instants, now: number): number {
  return Math.max(0, Math.floor((now - entry.cachedAt) / 1000));
}

/** Whole seconds of freshness left, for `Cache-Status`; negative once stale. */
export function ttlSeconds(entry: Instants, now: number): number {
  return Math.floor((entry.staleAt - now) / 1000);
}
