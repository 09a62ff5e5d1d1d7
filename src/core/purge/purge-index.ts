// What a list of purges says about a page. Nearly every selector is one name, and a page has few
// names, so that a judgement costs the same after ten purges and after ten thousand. Only patterns,
// and URLs with a learned rule, are tried one by one.
import type { Entry } from '../key/entry.ts';
import { compileSelector, type PurgeablePage, type SelectorTest } from './match-selector.ts';
import type { PurgeRecord, PurgeSelector } from './purge-record.ts';

export type Verdict =
  | { readonly state: 'kept' }
  /** It is marked stale by a purge that was taken back, and no other purge means it. */
  | { readonly state: 'restored' }
  /** Stale; `by` is the latest of the soft purges that mean it. */
  | { readonly state: 'softened'; readonly by: number }
  | { readonly state: 'gone' };

export type JudgedPage = PurgeablePage & Pick<Entry, 'since' | 'softened'>;

export interface PurgeIndex {
  /** Purges come in their order. */
  readonly add: (record: PurgeRecord) => void;
  readonly judge: (page: JudgedPage) => Verdict;
  readonly find: (seq: number) => PurgeRecord | null;
  readonly isUndone: (seq: number) => boolean;
  /** In their order. */
  readonly records: () => readonly PurgeRecord[];
}

/** The purges of one selector from the last hard one on, which is the first if there is one. */
type Filed = readonly PurgeRecord[];

interface Tried {
  readonly isMeant: SelectorTest;
  readonly filed: Filed;
}

const KEPT: Verdict = { state: 'kept' };
const RESTORED: Verdict = { state: 'restored' };
const GONE: Verdict = { state: 'gone' };
const NONE: Filed = [];
/** Is no tag. */
const ANY_TAG = '';

/** @param past purges in their order */
export function createPurgeIndex(past: readonly PurgeRecord[]): PurgeIndex {
  const records: PurgeRecord[] = [];
  const bySeq = new Map<number, PurgeRecord>();
  const undone = new Set<number>();
  const byName = new Map<string, Filed>();
  const tried = new Map<string, Tried>();

  function add(record: PurgeRecord): void {
    records.push(record);
    bySeq.set(record.seq, record);
    if (record.undoes !== null) {
      undone.add(record.undoes);
      return;
    }
    const { selector } = record;
    const names = nameSelector(selector);
    for (const name of names) byName.set(name, file(byName.get(name) ?? NONE, record));
    if (names.length > 0) return;
    const text = JSON.stringify(selector);
    const known = tried.get(text) ?? { isMeant: compileSelector(selector), filed: NONE };
    tried.set(text, { ...known, filed: file(known.filed, record) });
  }

  function judge(page: JudgedPage): Verdict {
    const since = page.since ?? 0;
    let by = 0;
    for (const filed of findMeaning(page, since)) {
      if (filed[0]?.soft === false && filed[0].seq > since) return GONE;
      by = Math.max(by, findSoft(filed, since));
    }
    if (by > 0) return { state: 'softened', by };
    return page.softened !== undefined && undone.has(page.softened.by) ? RESTORED : KEPT;
  }

  /** The latest soft purge that holds; 0: there is none. */
  function findSoft(filed: Filed, since: number): number {
    for (let at = filed.length - 1; at >= 0; at -= 1) {
      const record = filed[at];
      if (record === undefined || record.seq <= since) break;
      if (record.soft && !undone.has(record.seq)) return record.seq;
    }
    return 0;
  }

  function* findMeaning(page: PurgeablePage, since: number): Generator<Filed> {
    for (const name of namePage(page)) {
      const filed = byName.get(name);
      if (filed !== undefined) yield filed;
    }
    for (const { isMeant, filed } of tried.values()) {
      const isLater = (filed.at(-1)?.seq ?? 0) > since;
      if (isLater && isMeant(page)) yield filed;
    }
  }

  for (const record of past) add(record);
  return {
    add,
    judge,
    find: (seq) => bySeq.get(seq) ?? null,
    isUndone: (seq) => undone.has(seq),
    records: () => records,
  };
}

function file(filed: Filed, record: PurgeRecord): Filed {
  return record.soft ? [...filed, record] : [record];
}

/** None: pages have no name for it. */
function nameSelector(selector: PurgeSelector): readonly string[] {
  switch (selector.kind) {
    case 'url':
      return selector.learned === undefined
        ? [nameUrl(selector.dimensionId ?? null, selector.url)]
        : [];
    case 'pattern':
      return [];
    case 'tag':
      return [selector.tag, ANY_TAG].map((tag) => nameTag(selector.hostId, tag));
    case 'host':
      return [`host ${selector.hostId}`];
    case 'all':
      return ['all'];
  }
}

/** Under these names the purges are filed that mean the page. */
function namePage({ hostId, dimensionId, url, tags }: PurgeablePage): readonly string[] {
  const known = tags === null ? [ANY_TAG] : (tags ?? []);
  const tagNames = known.flatMap((tag) => [nameTag(null, tag), nameTag(hostId, tag)]);
  const urlNames = [nameUrl(null, url), nameUrl(dimensionId, url)];
  return [...urlNames, `host ${hostId}`, 'all', ...tagNames];
}

function nameUrl(dimensionId: number | null, url: string): string {
  return `url ${dimensionId ?? '*'} ${url}`;
}

function nameTag(hostId: number | null, tag: string): string {
  return `tag ${hostId ?? '*'} ${tag}`;
}
