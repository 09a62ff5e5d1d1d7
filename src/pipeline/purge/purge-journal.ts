// This process's view of the purge log. Whoever serves or stores a page asks it first to catch up;
// in the ordinary case that is one comparison. What is new is told at once to those who remember
// something, before whoever asked goes on.
import {
  createPurgeIndex,
  type JudgedPage,
  type PurgeIndex,
  type Verdict,
} from '../../core/purge/purge-index.ts';
import { PURGES_MAX, type PurgeOrder, type PurgeRecord } from '../../core/purge/purge-record.ts';
import type { Done, PurgeLog, PurgeNews } from '../ports.ts';

export interface PurgeJournal {
  /** The place in the log up to which everything is known here: `since` of a fetch that begins. */
  readonly end: () => number;
  /** Whether nothing is missing. Asks nobody: false also when that can't be told at the moment. */
  readonly isCaughtUp: () => boolean;
  /** Afterwards every purge is known that had been answered before. */
  readonly catchUp: () => Promise<Done<void>>;
  /** Writes a purge: from now on it holds everywhere, whatever is still stored. */
  readonly append: (order: PurgeOrder) => Promise<Done<PurgeRecord>>;
  /** What the known purges say about a stored page. */
  readonly judge: (page: JudgedPage) => Verdict;
  /** As `judge`, if this were ordered now. */
  readonly foresee: (order: PurgeOrder) => (page: JudgedPage) => Verdict;
  /** Whether what was fetched since then may still be stored, and remembered. */
  readonly isCurrent: (page: JudgedPage & { readonly since: number }) => boolean;
  readonly find: (seq: number) => PurgeRecord | null;
  readonly isUndone: (seq: number) => boolean;
  /**
   * Tells of purges that have become known, oldest first. A log that is lost may have held any:
   * that is told as one of everything.
   */
  readonly onPurges: (listener: PurgeListener) => void;
}

export type PurgeListener = (records: readonly PurgeRecord[]) => void;

/** A store may be replaced while it is asked, and then it is asked once more. */
const ATTEMPTS_MAX = 3;
/** Purges that the log has dropped stay here until there are so many. */
const RECORDS_MAX = 2 * PURGES_MAX;

const LOST: PurgeRecord = { selector: { kind: 'all' }, soft: false, undoes: null, seq: 0, at: 0 };

const DONE: Done<void> = { state: 'done', value: undefined };
const KEPT: Verdict = { state: 'kept' };
const GONE: Verdict = { state: 'gone' };

export function createPurgeJournal(log: PurgeLog): PurgeJournal {
  const listeners: PurgeListener[] = [];
  let index: PurgeIndex = createPurgeIndex([]);
  let end = 0;
  let droppedTo = 0;
  let life: string | null = null;

  const isCaughtUp = (): boolean => life !== null && log.isCaughtUp(end) && log.life() === life;

  async function catchUp(): Promise<Done<void>> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      if (isCaughtUp()) return DONE;
      const [asked, askedIn] = [end, life];
      const news = await log.readAfter(asked);
      if (news.state === 'unavailable') return news;
      const isOther = news.value.life !== life || news.value.end < asked;
      // Others may have asked at the same time, and may know more by now.
      if (isOther && end === asked && life === askedIn) startAnew(news.value.life);
      const isWhole = !isOther || asked === 0;
      if (isWhole && news.value.life === life && end >= asked) {
        take(news.value);
        return DONE;
      }
    }
    return { state: 'unavailable', reason: 'the purge log is replaced all the time' };
  }

  /**
   * The log of another store: what was known says nothing about its pages, and what was fetched
   * meanwhile may have been purged by what was lost.
   */
  function startAnew(next: string): void {
    index = createPurgeIndex([]);
    end = 0;
    droppedTo = 0;
    life = next;
    for (const tell of listeners) tell([LOST]);
  }

  /** Others may have asked at the same time, and may have been answered first. */
  function take(news: PurgeNews): void {
    const fresh = news.records.filter(({ seq }) => seq > end);
    if (index.records().length + fresh.length > RECORDS_MAX) {
      index = createPurgeIndex(index.records().slice(-PURGES_MAX));
    }
    for (const record of fresh) index.add(record);
    end = Math.max(end, news.end);
    droppedTo = Math.max(droppedTo, news.droppedTo);
    if (fresh.length > 0) for (const tell of listeners) tell(fresh);
  }

  /** What knows of later purges than there are comes from another store, and is not there. */
  function judgeBy(purges: PurgeIndex, page: JudgedPage): Verdict {
    return (page.since ?? 0) > end ? GONE : purges.judge(page);
  }

  /** Nothing was purged since most pages were fetched. */
  const judge = (page: JudgedPage): Verdict =>
    (page.since ?? 0) === end ? KEPT : judgeBy(index, page);

  async function append(order: PurgeOrder): Promise<Done<PurgeRecord>> {
    const done = await log.append(order);
    // It holds, also when it can't be read now: whoever serves a page catches up first.
    if (done.state === 'done') await catchUp();
    return done;
  }

  log.onNews(catchUp);
  return {
    end: () => end,
    isCaughtUp,
    catchUp,
    append,
    judge,
    foresee: (order) => {
      const next = { ...order, seq: end + 1, at: 0 };
      const foreseen = createPurgeIndex([...index.records(), next]);
      return (page) => judgeBy(foreseen, page);
    },
    isCurrent: (page) => page.since >= droppedTo && judge(page).state === 'kept',
    find: (seq) => index.find(seq),
    isUndone: (seq) => index.isUndone(seq),
    onPurges: (listener) => void listeners.push(listener),
  };
}
