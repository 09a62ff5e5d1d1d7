// Who has which slot, as a node of the Cluster tells it. What it tells is data from outside: a part
// that makes no sense is left out, and its slots have no owner.
import { splitAddress } from '../../../../core/redis-target.ts';
import { SLOTS } from './slot-of-key.ts';

/** Address (`host:port`) of the master by slot. */
export type SlotTable = readonly (string | undefined)[];

/**
 * Reads the answer to CLUSTER SLOTS.
 *
 * @param askedAddress the node that answered: where it names no host, its own is meant
 */
export function readSlotTable(reply: unknown, askedAddress: string): SlotTable {
  const table = Array.from<string | undefined>({ length: SLOTS });
  for (const range of asList(reply)) {
    const [first, last, master] = asList(range);
    const address = readAddress(asList(master), askedAddress);
    if (!isSlot(first) || !isSlot(last) || address === null) continue;
    table.fill(address, first, last + 1);
  }
  return table;
}

/** The masters of a table, each once. */
export function mastersOf(table: SlotTable): ReadonlySet<string> {
  return new Set(table.filter((address) => address !== undefined));
}

function readAddress(master: readonly unknown[], askedAddress: string): string | null {
  const [host, port] = master;
  if (typeof port !== 'number') return null;
  const isNamed = typeof host === 'string' && host !== '' && host !== '?';
  const name = isNamed ? host : splitAddress(askedAddress).host;
  return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`;
}

function isSlot(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < SLOTS;
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
