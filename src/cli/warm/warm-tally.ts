// What came of the pages of a warming: counted, and how many URLs from the first on are done.

export interface WarmCounts {
  readonly fresh: number;
  readonly rendered: number;
  readonly unstored: number;
  readonly failed: number;
  /** URLs, where the others are pages. */
  readonly refused: number;
}

export interface WarmFailure {
  readonly url: string;
  readonly dimension: string;
  readonly detail: string;
}

/** One line of the answer to `POST /warm`. */
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
  #finished = 0;

  /** @param doneTo how many were done before */
  constructor(counts: WarmCounts, doneTo: number) {
    this.#counts = counts;
    this.#doneTo = doneTo;
  }

  get counts(): WarmCounts {
    return this.#counts;
  }

  /** All URLs before this place are done. */
  get doneTo(): number {
    return this.#doneTo;
  }

  /** Of this run. */
  get finished(): number {
    return this.#finished;
  }

  /** @returns what failed */
  add(place: number, { url, refused, pages }: WarmLine): readonly WarmFailure[] {
    this.#finished += 1;
    this.#doneBeyond.add(place);
    while (this.#doneBeyond.delete(this.#doneTo)) this.#doneTo += 1;
    if (refused !== null) this.#count('refused');
    const failures: WarmFailure[] = [];
    for (const { dimension, outcome, detail } of pages) {
      if (outcome === 'fresh') this.#count('fresh');
      else if (outcome === 'stored') this.#count('rendered');
      else if (outcome === 'unstored') this.#count('unstored');
      else {
        this.#count('failed');
        failures.push({ url, dimension, detail: detail ?? outcome });
      }
    }
    return failures;
  }

  #count(what: keyof WarmCounts): void {
    this.#counts = { ...this.#counts, [what]: this.#counts[what] + 1 };
  }
}

export function formatCounts({ fresh, rendered, unstored, failed, refused }: WarmCounts): string {
  const parts = [`${fresh} fresh`, `${rendered} rendered`];
  if (unstored > 0) parts.push(`${unstored} not to be kept`);
  if (failed > 0) parts.push(`${failed} failed`);
  if (refused > 0) parts.push(`${refused} no pages`);
  return parts.join(', ');
}
