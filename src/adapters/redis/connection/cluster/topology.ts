// Who has which slot of a Cluster. The table is asked for anew when a node redirects or can't be
// asked, never by a timer; the configured nodes are gone back to when no known one answers.

import { CONNECT_TIMEOUT_MS } from '../../../../core/redis-target.ts';
import { answer } from '../redis-connection.ts';
import type { ServerLink } from '../server-link.ts';
import { type ClusterOptions, type ClusterTarget, createNodeLinks } from './node-links.ts';
import { slotOfKey } from './slot-of-key.ts';
import { mastersOf, readSlotTable, type SlotTable } from './slot-table.ts';

export interface Topology {
  readonly ownerOf: (key: string) => ServerLink | null;
  readonly masters: () => readonly ServerLink[];
  readonly linkTo: (address: string) => ServerLink;
  readonly onChanged: (listener: () => void) => void;
  /** When a slot last got another owner. */
  readonly changedAt: () => number;
  /** Asks for the table, in the background. */
  readonly refresh: () => void;
  /** Connects to the configured nodes, and asks for the table. */
  readonly discover: () => Promise<void>;
  readonly close: () => void;
}

/** The table is asked for no more often. */
const REFRESH_PAUSE_MS = 250;

/** Makes the topology; nothing is known before the first `discover`. */
export function createTopology(target: ClusterTarget, options: ClusterOptions): Topology {
  const { monotonicNow, timeoutMs } = options;
  const links = createNodeLinks(target, options);
  let table: SlotTable = [];
  let changedAt = monotonicNow();
  let refreshedAt = Number.NEGATIVE_INFINITY;
  let isRefreshing = false;
  const listeners: (() => void)[] = [];
  let isClosed = false;

  async function askTable(asked: readonly ServerLink[]): Promise<boolean> {
    for (const link of asked) {
      const reply = await answer(link.attempt((redis) => redis.cluster('SLOTS'), timeoutMs));
      if (reply.state === 'unavailable') continue;
      const next = readSlotTable(reply.value, link.name);
      if (mastersOf(next).size === 0) continue;
      adopt(next);
      return true;
    }
    return false;
  }

  function adopt(next: SlotTable): void {
    const isOther = next.some((address, slot) => address !== table[slot]);
    table = next;
    if (isOther) changedAt = monotonicNow();
    const masters = mastersOf(next);
    for (const address of masters) links.to(address);
    links.keepOnly(masters);
    if (isOther) for (const listener of listeners) listener();
  }

  async function settle(asked: readonly ServerLink[]): Promise<void> {
    await Promise.all(asked.map((link) => link.settle(CONNECT_TIMEOUT_MS)));
  }

  async function discover(): Promise<void> {
    const seeds = target.nodes.map(links.to);
    await settle(seeds);
    if (await askTable(seeds)) await settle(links.all());
  }

  async function refresh(): Promise<void> {
    isRefreshing = true;
    const isKnown = await askTable(links.all());
    if (!isKnown && !isClosed) await discover();
    refreshedAt = monotonicNow();
    isRefreshing = false;
  }

  return {
    ownerOf: (key) => links.find(table[slotOfKey(key)] ?? ''),
    masters: () => [...mastersOf(table)].map(links.to),
    linkTo: links.to,
    onChanged: (listener) => void listeners.push(listener),
    changedAt: () => changedAt,
    refresh: () => {
      if (isClosed || isRefreshing || monotonicNow() - refreshedAt < REFRESH_PAUSE_MS) return;
      void refresh();
    },
    discover,
    close: () => {
      isClosed = true;
      links.close();
    },
  };
}
