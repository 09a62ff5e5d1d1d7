// What has to be given back, in the reverse of the order in which it was taken: for an orderly
// stop, and for a start that failed half-way and must leave nothing open behind it.

export interface Releases {
  readonly add: (release: () => void | Promise<void>) => void;
  /** Gives back everything, each once, even when one fails; then throws the first failure. */
  readonly run: () => Promise<void>;
}

export function createReleases(): Releases {
  const pending: (() => void | Promise<void>)[] = [];
  return {
    add: (release) => void pending.push(release),
    run: async () => {
      const failures: unknown[] = [];
      for (let release = pending.pop(); release !== undefined; release = pending.pop()) {
        try {
          await release();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
