// Which of a host's origins is asked next. Counters belong to the list of origins, not to the
// configuration object: they survive a reload, and every path that asks origins shares them.
import { createUpstreamPicker, type UpstreamPicker } from '../../core/http/pick-upstream.ts';
import type { Origin } from '../../core/policy/policy.ts';
import type { OriginTurn } from '../../pipeline/origin-ports.ts';
import type { Clock } from '../../pipeline/ports.ts';

export interface OriginBalancer {
  /** The best origin now; when all are left out, the one due back first. */
  readonly take: (origins: readonly Origin[]) => OriginTurn;
}

/** Host configurations remembered; reloads make new ones, the oldest are forgotten. */
const GROUPS_MAX = 1_000;

/** Starts with every origin in service. */
export function createOriginBalancer(clock: Clock): OriginBalancer {
  const pickers = new Map<string, UpstreamPicker<string>>();

  const pickerFor = (origins: readonly Origin[]): UpstreamPicker<string> => {
    const urls = origins.map(({ url }) => url);
    const group = urls.join(' ');
    const known = pickers.get(group);
    if (known !== undefined) return known;
    const picker = createUpstreamPicker(urls);
    pickers.set(group, picker);
    const [oldest] = pickers.keys();
    if (pickers.size > GROUPS_MAX && oldest !== undefined) pickers.delete(oldest);
    return picker;
  };

  return {
    take: (origins) => {
      const picker = pickerFor(origins);
      const [originUrl] = picker.candidates(clock.now(), 'all');
      if (originUrl === undefined) throw new Error('a host has at least one origin');
      picker.begin(originUrl);
      return { originUrl, end: (how) => picker.end(originUrl, how, clock.now()) };
    },
  };
}
