// What is being written to the store at the moment: a client that has just got an answer, and asks
// again at once, finds it. Never longer than one write and its turn take; holds no more than is
// being written.

/** Who could have the answer otherwise waits no longer for its being written. */
export const STORE_PATIENCE_MS = 200;

export interface RunningSaves {
  /** Gives the save back, so that it can be waited for. */
  readonly note: <T>(identity: string, save: Promise<T>) => Promise<T>;
  /** null: nothing is being written. */
  readonly find: (identity: string) => Promise<unknown> | null;
  /** Resolves when all are written, for an orderly stop. */
  readonly drain: () => Promise<void>;
}

export function createRunningSaves(): RunningSaves {
  const running = new Map<string, Promise<unknown>>();
  return {
    note: (identity, save) => {
      const settled = save.finally(() => {
        if (running.get(identity) === settled) running.delete(identity);
      });
      running.set(identity, settled);
      return settled;
    },
    find: (identity) => running.get(identity) ?? null,
    drain: async () => void (await Promise.allSettled(running.values())),
  };
}
