// A hit in one turn: the page is in memory, fresh, and nothing has to be asked or waited for. The
// answer is described by the very code of the phases, so both ways say the same.
import { describedUntil, describeEntry } from './deliver-page.ts';
import { type PipelineDeps, pageIdentity } from './deps.ts';
import type { ContentCoding, Entry } from './ports.ts';
import { recacheOnHit } from './refresh/recache-on-hit.ts';
import type { AnswerDelivery, Keyed } from './state.ts';

/** An answer in words, for as long as they are right. */
export interface HotWords {
  readonly delivery: AnswerDelivery;
  readonly coding: ContentCoding;
  readonly entry: Entry;
  /** Epoch milliseconds. */
  readonly from: number;
  readonly until: number;
}

export interface HotAnswer {
  /** The same object as long as nothing about it changes. */
  readonly words: HotWords;
  readonly body: Buffer;
}

export interface HotPage {
  /** Answers from memory; null: the phases have to be walked. */
  readonly find: () => HotAnswer | null;
  /** It was given: counts, and may ask for a refresh. */
  readonly noteHit: (words: HotWords) => void;
}

/** @param keyed of a GET without conditions, which stands for all others for the same page */
export function createHotPage(keyed: Keyed, deps: PipelineDeps): HotPage {
  const identity = pageIdentity(keyed);
  const { normalized } = keyed.decision;
  // Without the body: what the memory tier lets go must not be held here.
  let words: HotWords | null = null;
  return {
    find: () => {
      if (deps.knownNonPages.get(identity) !== null) return null;
      const page = deps.pages.peek(keyed.key, normalized);
      if (page === null || page.freshness !== 'fresh') return null;
      const { entry, bodies } = page;
      const now = deps.clock.now();
      if (words === null || words.entry !== entry || now < words.from || now >= words.until) {
        words = describeHot(keyed, entry, now);
      }
      const body = words === null ? undefined : bodies[words.coding];
      if (words === null || body === undefined) return null;
      return { words, body };
    },
    noteHit: ({ entry }) => {
      deps.pages.countHit();
      recacheOnHit(keyed, entry, deps);
    },
  };
}

/** Written without the body that was stored. */
const BODILESS: ReadonlySet<number> = new Set([204, 205]);

function describeHot(keyed: Keyed, entry: Entry, now: number): HotWords | null {
  const { delivery, coding } = describeEntry(keyed, { how: 'hit', entry, detail: null }, now);
  if (coding === null || BODILESS.has(entry.status)) return null;
  return { delivery, coding, entry, from: now, until: describedUntil(entry, now) };
}
