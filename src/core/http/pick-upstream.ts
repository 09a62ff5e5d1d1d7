// Which of several equal servers is asked next: the least loaded first, one that failed left out
// for a while that doubles with every further failure. Time comes from the caller.

/**
 * How a request to a server went. `busy` says nothing of its health; `absent`: nobody does the work
 * there now, which was said at once and costs nothing to ask again.
 */
export type OriginHealth = 'ok' | 'failed' | 'absent' | 'busy';

interface Upstream<T> {
  readonly item: T;
  inFlight: number;
  failures: number;
  /** Left out until then, epoch milliseconds. */
  outUntil: number;
}

export interface UpstreamPicker<T> {
  /**
   * Those worth asking now, best first. Empty: all are left out.
   *
   * @param fallback all of them when all are left out, the one due back first at the head
   */
  readonly candidates: (now: number, fallback: 'none' | 'all') => readonly T[];
  readonly begin: (item: T) => void;
  /** `ok` ends every back-off, `failed` starts or doubles it, `absent` starts a short one. */
  readonly end: (item: T, how: OriginHealth, now: number) => void;
}

const BACK_OFF_MS_MIN = 500;
const BACK_OFF_MS_MAX = 30_000;

/** Starts with every server in. */
export function createUpstreamPicker<T>(items: readonly T[]): UpstreamPicker<T> {
  const upstreams: readonly Upstream<T>[] = items.map((item) => ({
    item,
    inFlight: 0,
    failures: 0,
    outUntil: 0,
  }));
  // Equals take turns: without it the first would get every request of a quiet site.
  let turn = 0;

  const find = (item: T): Upstream<T> => {
    const upstream = upstreams.find((one) => one.item === item);
    if (upstream === undefined) throw new Error('not an upstream of this picker');
    return upstream;
  };

  return {
    candidates: (now, fallback) => {
      const [only] = upstreams;
      if (only !== undefined && upstreams.length === 1) {
        return only.outUntil <= now || fallback === 'all' ? items : [];
      }
      turn += 1;
      const rotated = upstreams.map((_, i) => upstreams[(i + turn) % upstreams.length]);
      const inTurn = rotated.filter((one) => one !== undefined);
      const inService = inTurn.filter((one) => one.outUntil <= now);
      if (inService.length > 0) return toItems(inService, (one) => one.inFlight);
      return fallback === 'all' ? toItems(inTurn, (one) => one.outUntil) : [];
    },
    begin: (item) => {
      find(item).inFlight += 1;
    },
    end: (item, how, now) => {
      const upstream = find(item);
      upstream.inFlight -= 1;
      if (how === 'ok') [upstream.failures, upstream.outUntil] = [0, 0];
      // Requests that were under way together fail together: that is one failure.
      if (upstream.outUntil > now) return;
      if (how === 'absent') upstream.outUntil = now + BACK_OFF_MS_MIN;
      if (how === 'failed') {
        upstream.outUntil =
          now + Math.min(BACK_OFF_MS_MIN * 2 ** upstream.failures, BACK_OFF_MS_MAX);
        upstream.failures = Math.min(upstream.failures + 1, 16);
      }
    },
  };
}

function toItems<T>(upstreams: readonly Upstream<T>[], rank: (one: Upstream<T>) => number): T[] {
  return upstreams.toSorted((a, b) => rank(a) - rank(b)).map((one) => one.item);
}
