// Who fetches which page, kept in memory by the one process that all others belong to. A member
// that leaves, or dies, has lost its leases in the same turn; its followers hear of it and enter
// again.
import type { LeaseResult } from '../../pipeline/ports.ts';

/** A process that takes part. It names each of its turns by a number of its own. */
export interface LeaseMember {
  readonly enter: (key: string, turn: number) => 'leader' | 'follower';
  /** Ends the lease where the turn leads, with a word for its followers; else it stops waiting. */
  readonly release: (key: string, turn: number, result: LeaseResult) => void;
  /** Gives up everything. */
  readonly leave: () => void;
}

export interface LeaseKeeper {
  /** @param onEnded told once for each turn that follows, when its leader is done or gone */
  readonly join: (onEnded: (turn: number, result: LeaseResult) => void) => LeaseMember;
}

interface Turn {
  readonly member: symbol;
  readonly number: number;
  readonly onEnded: (result: LeaseResult) => void;
}

interface HeldLease {
  readonly leader: Turn;
  followers: readonly Turn[];
}

const LOST: LeaseResult = { outcome: 'lost', reason: null };

export function createLeaseKeeper(): LeaseKeeper {
  const held = new Map<string, HeldLease>();

  const end = (key: string, { followers }: HeldLease, result: LeaseResult): void => {
    held.delete(key);
    for (const follower of followers) follower.onEnded(result);
  };

  return {
    join: (onEnded) => {
      const member = Symbol('member');
      return {
        enter: (key, number) => {
          const turn = {
            member,
            number,
            onEnded: (result: LeaseResult) => onEnded(number, result),
          };
          const lease = held.get(key);
          if (lease === undefined) {
            held.set(key, { leader: turn, followers: [] });
            return 'leader';
          }
          lease.followers = [...lease.followers, turn];
          return 'follower';
        },
        release: (key, number, result) => {
          const lease = held.get(key);
          if (lease === undefined) return;
          const isOurs = (turn: Turn): boolean => turn.member === member && turn.number === number;
          if (isOurs(lease.leader)) end(key, lease, result);
          else lease.followers = lease.followers.filter((turn) => !isOurs(turn));
        },
        leave: () => {
          for (const [key, lease] of held) {
            lease.followers = lease.followers.filter((turn) => turn.member !== member);
            if (lease.leader.member === member) end(key, lease, LOST);
          }
        },
      };
    },
  };
}
