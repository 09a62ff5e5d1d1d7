// Leases of a process that shares its store with no other: it leads whatever it asks for.
import type { Lease, Leases } from '../ports.ts';

const LEASE: Lease = { isHeld: () => true, release: async () => undefined };

export function createSoloLeases(): Leases {
  return {
    enter: async () => ({ role: 'leader', lease: LEASE }),
    close: async () => undefined,
  };
}
