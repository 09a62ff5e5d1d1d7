// The leases of the primary process itself: it keeps them, and takes part like its workers.
import {
  createMemberLeases,
  type MemberLeases,
} from '../../adapters/workers/create-member-leases.ts';
import type { LeaseKeeper } from '../../adapters/workers/lease-keeper.ts';

export function joinLeases(keeper: LeaseKeeper): MemberLeases {
  const member = keeper.join((turn, result) => leases.end(turn, result));
  const leases = createMemberLeases({
    enter: async (key, turn) => ({ state: 'done', value: member.enter(key, turn) }),
    release: member.release,
  });
  return leases;
}
