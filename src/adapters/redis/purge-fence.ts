// Waits until every process that trusts its memory has heard of a purge, or can trust it no more:
// trust that no question renews is over after its time, so that nobody has to be waited for longer.
import type { PurgeLog } from '../../pipeline/ports.ts';
import { TRUST_MS } from './channel/channel-session.ts';

export interface PurgeFence {
  readonly onNews: PurgeLog['onNews'];
  /** Has everybody here learn of a purge of another process; says whether they could. */
  readonly learn: () => Promise<boolean>;
  /** A process says that it has heard of a purge of ours. */
  readonly noteHeard: (reader: string, seq: number) => void;
  /**
   * Resolves when all of them have heard; or when the time of trust is over.
   *
   * @param readers null: who they are is not certain, so that only time helps
   */
  readonly wait: (seq: number, readers: readonly string[] | null) => Promise<void>;
  readonly close: () => void;
}

/** More purges than this process has under way at once. */
const PURGES_MAX = 10_000;

interface Waiting {
  readonly heard: Set<string>;
  /** Set once it is known whom to wait for. */
  check: () => void;
}

/** Makes the fence of one process. */
export function createPurgeFence(): PurgeFence {
  const purges = new Map<number, Waiting>();
  const learners: Parameters<PurgeLog['onNews']>[0][] = [];
  let isClosed = false;

  /** Answers may come before the place of our own purge is known here. */
  function find(seq: number): Waiting {
    const known = purges.get(seq);
    if (known !== undefined) return known;
    const [oldest] = purges.keys();
    if (purges.size >= PURGES_MAX && oldest !== undefined) purges.delete(oldest);
    const made: Waiting = { heard: new Set(), check: () => undefined };
    purges.set(seq, made);
    return made;
  }

  return {
    onNews: (learner) => void learners.push(learner),
    learn: async () => {
      const learned = await Promise.all(learners.map((learner) => learner()));
      return learned.every(({ state }) => state === 'done');
    },
    noteHeard: (reader, seq) => {
      const purge = find(seq);
      purge.heard.add(reader);
      purge.check();
    },
    wait: async (seq, readers) => {
      const purge = find(seq);
      if (!isClosed && readers?.every((reader) => purge.heard.has(reader)) !== true) {
        await new Promise<void>((resolve) => {
          // A timer may be a millisecond early.
          const timer = setTimeout(resolve, TRUST_MS + 2);
          purge.check = () => {
            if (!isClosed && readers?.every((reader) => purge.heard.has(reader)) !== true) return;
            clearTimeout(timer);
            resolve();
          };
        });
      }
      purges.delete(seq);
    },
    close: () => {
      isClosed = true;
      for (const purge of purges.values()) purge.check();
    },
  };
}
