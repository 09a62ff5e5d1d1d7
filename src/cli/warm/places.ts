// Places for what is asked for at once. A page that waits for another try is no work for anybody:
// it lends its place to others meanwhile, up to a number, since each is a request that stays open.

/** Lent at once. */
const LENT_MAX = 256;

export class Places {
  #free: number;
  #lent = 0;
  #wake = (): void => undefined;

  constructor(count: number) {
    this.#free = count;
  }

  /** @returns how many could be taken */
  take(wanted: number): number {
    const taken = Math.min(wanted, this.#free);
    this.#free -= taken;
    return taken;
  }

  /** @returns false: so many are lent that its holder keeps it */
  lend(): boolean {
    if (this.#lent >= LENT_MAX) return false;
    this.#lent += 1;
    this.#giveBack();
    return true;
  }

  /** @param isLent others have had the place already */
  release(isLent: boolean): void {
    if (isLent) this.#lent -= 1;
    else this.#giveBack();
  }

  #giveBack(): void {
    this.#free += 1;
    this.#wake();
  }

  /** Until a place is free, or `wake` is called. */
  async wait(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  wake(): void {
    this.#wake();
  }
}
