// What came of the pages of a warming: counted, how many URLs from the first on are done, and which
// pages are to be tried again.

export interface WarmCounts {
  readonly fresh: number;
  readonly rendered: number;
  readonly unstored: number;
  readonly failed: number;
  /** URLs, where the others are pages. */
  readonly refused: number;
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
};

export class WarmTally {
  #counts: WarmCounts;
  #doneTo: number;
  readonly #doneBeyond = new Set<number>();
  readonly #doneBefore: number;
  /** Pages that wait for another try. */
  readonly #putOff = new Set<string>();
  #finished = 0;

  /** @param doneTo how many were done before */
  constructor(counts: WarmCounts, doneTo: number) {
    this.#counts = counts;
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
  add(place: number, { url, refused, pages }: WarmLine): readonly WarmFailure[] {
    this.#finished += 1;
    this.#doneBeyond.add(place);
    while (this.#doneBeyond.delete(this.#doneTo)) this.#doneTo += 1;
    if (refused !== null) this.#count('refused');
    const failures: WarmFailure[] = [];
    for (const { dimension, outcome, detail } of pages) {
      this.#putOff.delete(formatPage(url, dimension));
      if (outcome === 'fresh') this.#count('fresh');
      else if (outcome === 'stored') this.#count('rendered');
      else if (outcome === 'unstored') this.#count('unstored');
      else this.#count('failed');
      if (!GOT.has(outcome) || detail?.startsWith('status_') === true) {
        failures.push({ url, dimension, outcome, detail: detail ?? outcome });
      }
    }
    return failures;
  }

  #count(what: keyof WarmCounts): void {
    this.#counts = { ...this.#counts, [what]: this.#counts[what] + 1 };
  }
}

/** Outcomes that are none of a failure. */
const GOT: ReadonlySet<string> = new Set(['fresh', 'stored', 'unstored']);

function formatPage(url: string, dimension: string): string {
  return `${dimension} ${url}`;
}

export function formatCounts({ fresh, rendered, unstored, failed, refused }: WarmCounts): string {
  const parts = [`${fresh} fresh`, `${rendered} rendered`];
  if (unstored > 0) parts.push(`${unstored} not to be kept`);
  if (failed > 0) parts.push(`${failed} failed`);
  if (refused > 0) parts.push(`${refused} no pages`);
  return parts.join(', ');
}
