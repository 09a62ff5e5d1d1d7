// What came of the pages of a warming: counted, how many URLs from the first on are done, and which
// pages are to be tried again. What is done beyond those is done again by whoever goes on behind
// them, and is counted apart until then.
import type { NoPageReason } from '../../pipeline/refresh/find-refresh-pages.ts';

export interface WarmCounts {
  readonly fresh: number;
  readonly rendered: number;
  readonly unstored: number;
  readonly failed: number;
  /** URLs, where the others are pages. */
  readonly refused: number;
  /** Of the refused: those that are a mistake in the list. */
  readonly mistaken: number;
}

/** A page that could not be got, or is an error of the site's own: `status_404`. */
export interface WarmFailure {
  readonly url: string;
  readonly dimension: string;
  readonly outcome: string;
  readonly detail: string;
}

/** A line that only says that a page is put off. */
export interface WarmRetryLine {
  readonly url: string;
  readonly dimension: string;
  readonly detail: string | null;
  readonly delayMs: number;
}

/** The line of the answer to `POST /warm` that ends a URL. */
export interface WarmLine {
  readonly url: string;
  readonly refused: string | null;
  readonly pages: readonly {
    readonly dimension: string;
    readonly outcome: string;
    readonly detail: string | null;
  }[];
}

export const NOTHING_YET: WarmCounts = {
  fresh: 0,
  rendered: 0,
  unstored: 0,
  failed: 0,
  refused: 0,
  mistaken: 0,
};

/** Why a URL of a configured host is refused: it is answered, and not by a page that is kept. */
const NO_MISTAKES: ReadonlySet<string> = new Set<NoPageReason>([
  'not_a_page',
  'rule',
  'signed_url',
  'status_rule',
  'canonical_redirect',
]);

export class WarmTally {
  #counts: WarmCounts;
  #countsToThere: WarmCounts;
  #doneTo: number;
  /** By index. */
  readonly #doneBeyond = new Map<number, WarmCounts>();
  readonly #doneBefore: number;
  /** Pages that wait for another try. */
  readonly #putOff = new Set<string>();
  #finished = 0;

  /** @param doneTo how many were done before */
  constructor(counts: WarmCounts, doneTo: number) {
    this.#counts = counts;
    this.#countsToThere = counts;
    this.#doneTo = doneTo;
    this.#doneBefore = doneTo;
  }

  get counts(): WarmCounts {
    return this.#counts;
  }

  /** All URLs before this place are done. */
  get doneTo(): number {
    return this.#doneTo;
  }

  /** What came of those. */
  get countsToThere(): WarmCounts {
    return this.#countsToThere;
  }

  /** How many are, wherever they stand. */
  get done(): number {
    return this.#doneBefore + this.#finished;
  }

  /** Of this run. */
  get finished(): number {
    return this.#finished;
  }

  get putOffCount(): number {
    return this.#putOff.size;
  }

  putOff({ url, dimension }: WarmRetryLine): void {
    this.#putOff.add(formatPage(url, dimension));
  }

  /** @returns what failed, and pages that are errors */
  add(index: number, line: WarmLine): readonly WarmFailure[] {
    this.#finished += 1;
    const counts = countLine(line);
    this.#counts = addCounts(this.#counts, counts);
    this.#doneBeyond.set(index, counts);
    this.#moveOn();
    const { url, pages } = line;
    for (const { dimension } of pages) this.#putOff.delete(formatPage(url, dimension));
    return pages.flatMap(({ dimension, outcome, detail }) =>
      countedAs(outcome) === 'failed' || detail?.startsWith('status_') === true
        ? [{ url, dimension, outcome, detail: detail ?? outcome }]
        : [],
    );
  }

  #moveOn(): void {
    for (;;) {
      const counts = this.#doneBeyond.get(this.#doneTo);
      if (counts === undefined) return;
      this.#doneBeyond.delete(this.#doneTo);
      this.#countsToThere = addCounts(this.#countsToThere, counts);
      this.#doneTo += 1;
    }
  }
}

function countLine({ refused, pages }: WarmLine): WarmCounts {
  const counts = { ...NOTHING_YET };
  if (refused !== null) counts.refused = 1;
  if (refused !== null && !NO_MISTAKES.has(refused)) counts.mistaken = 1;
  for (const { outcome } of pages) counts[countedAs(outcome)] += 1;
  return counts;
}

function countedAs(outcome: string): 'fresh' | 'rendered' | 'unstored' | 'failed' {
  if (outcome === 'stored') return 'rendered';
  return outcome === 'fresh' || outcome === 'unstored' ? outcome : 'failed';
}

function addCounts(one: WarmCounts, other: WarmCounts): WarmCounts {
  return {
    fresh: one.fresh + other.fresh,
    rendered: one.rendered + other.rendered,
    unstored: one.unstored + other.unstored,
    failed: one.failed + other.failed,
    refused: one.refused + other.refused,
    mistaken: one.mistaken + other.mistaken,
  };
}

function formatPage(url: string, dimension: string): string {
  return `${dimension} ${url}`;
}

/** `4 pages: 0 fresh, 4 rendered; 1 URL refused` */
export function formatCounts({ fresh, rendered, unstored, failed, refused }: WarmCounts): string {
  const parts = [`${fresh} fresh`, `${rendered} rendered`];
  if (unstored > 0) parts.push(`${unstored} not to be kept`);
  if (failed > 0) parts.push(`${failed} failed`);
  const pages = formatNumber(fresh + rendered + unstored + failed, 'page');
  const left = refused === 0 ? '' : `; ${formatNumber(refused, 'URL')} refused`;
  return `${pages}: ${parts.join(', ')}${left}`;
}

/** `1 URL`, `2 URLs` */
export function formatNumber(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`;
}
