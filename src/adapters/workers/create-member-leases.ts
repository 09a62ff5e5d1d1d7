// The Leases port of a process that is a member of a keeper, over whatever leads to it: a call, or
// the pipe to the primary process. Nobody waits for long to hear whether it leads.
import type { Done, LeaseResult, Leases } from '../../pipeline/ports.ts';

/** The way to the keeper. */
export interface LeaseLink {
  readonly enter: (key: string, turn: number) => Promise<Done<'leader' | 'follower'>>;
  /** As `LeaseMember`. */
  readonly release: (key: string, turn: number, result: LeaseResult) => void;
}

export interface MemberLeases extends Leases {
  /** To be told by the keeper, for each turn that follows. */
  readonly end: (turn: number, result: LeaseResult) => void;
}

interface Turn {
  readonly key: string;
  readonly end: (result: LeaseResult) => void;
}

const LOST: LeaseResult = { outcome: 'lost', reason: null };

export function createMemberLeases(link: LeaseLink): MemberLeases {
  const turns = new Map<number, Turn>();
  let lastTurn = 0;
  let isClosed = false;

  const end = (turn: number, result: LeaseResult): void => {
    turns.get(turn)?.end(result);
    turns.delete(turn);
  };
  /** Whatever became of it: the keeper forgets it. */
  const release = (turn: number, result: LeaseResult): void => {
    const key = turns.get(turn)?.key;
    if (key === undefined) return;
    end(turn, result);
    link.release(key, turn, result);
  };

  return {
    enter: async (key) => {
      if (isClosed) return { role: 'unavailable', reason: 'closed' };
      lastTurn += 1;
      const turn = lastTurn;
      // Before it is known whether we follow: the leader may end while the answer is on its way.
      const result = new Promise<LeaseResult>((resolve) => {
        turns.set(turn, { key, end: resolve });
      });
      const entered = await link.enter(key, turn);
      if (entered.state === 'unavailable') {
        // It may have been granted all the same, and the answer is late.
        release(turn, LOST);
        return { role: 'unavailable', reason: entered.reason };
      }
      if (entered.value === 'follower') return { role: 'follower', result };
      return {
        role: 'leader',
        lease: {
          isHeld: () => turns.has(turn),
          release: async (word) => release(turn, word),
        },
      };
    },
    end,
    close: async () => {
      isClosed = true;
      for (const turn of turns.keys()) release(turn, LOST);
    },
  };
}
