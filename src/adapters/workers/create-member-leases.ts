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

const LOST: LeaseResult = { outcome: 'lost', reason: null };

export function createMemberLeases(link: LeaseLink): MemberLeases {
  const waiting = new Map<number, (result: LeaseResult) => void>();
  let lastTurn = 0;

  const end = (turn: number, result: LeaseResult): void => {
    waiting.get(turn)?.(result);
    waiting.delete(turn);
  };

  return {
    enter: async (key) => {
      lastTurn += 1;
      const turn = lastTurn;
      // Before it is known whether we follow: the leader may end while the answer is on its way.
      const result = new Promise<LeaseResult>((resolve) => waiting.set(turn, resolve));
      const entered = await link.enter(key, turn);
      if (entered.state === 'unavailable') {
        waiting.delete(turn);
        // It may have been granted all the same, and the answer is late.
        link.release(key, turn, LOST);
        return { role: 'unavailable', reason: entered.reason };
      }
      if (entered.value === 'follower') return { role: 'follower', result };
      waiting.delete(turn);
      let isHeld = true;
      return {
        role: 'leader',
        lease: {
          isHeld: () => isHeld,
          release: async (word) => {
            if (!isHeld) return;
            isHeld = false;
            link.release(key, turn, word);
          },
        },
      };
    },
    end,
    close: async () => {
      for (const turn of waiting.keys()) end(turn, LOST);
    },
  };
}
