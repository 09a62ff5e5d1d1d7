// Everything the gateway keeps in Redis, over one connection for commands and one for messages; and
// one for bodies where they are kept there too, so that metadata never waits behind a large page.
import { randomUUID } from 'node:crypto';
import { LIMITS } from '../../core/limits.ts';
import { type RedisTarget } from '../../core/redis-target.ts';
import type {
  BodyStore,
  Clock,
  EntryStore,
  Hasher,
  LearnedRules,
  Leases,
  PurgeLog,
} from '../../pipeline/ports.ts';
import type { Inventory, UsageBook } from '../../pipeline/upkeep-ports.ts';
import { createAnnouncer } from './announce.ts';
import { type ChangedKeys, createChangedKeys } from './channel/changed-keys.ts';
import { type Channel, openChannel } from './channel/channel.ts';
import type { ChannelMessage } from './channel/messages.ts';
import { type CheckEviction, createEvictionCheck, type EvictionWarning } from './check-eviction.ts';
import { connectRedis } from './connection/connect-redis.ts';
import { createOutageReporter, type RedisWarning } from './connection/outage-reporter.ts';
import { databaseOf } from './connection/redis-target.ts';
import { createRedisBodyStore } from './create-redis-body-store.ts';
import { createRedisEntryStore } from './create-redis-entry-store.ts';
import { createRedisInventory } from './create-redis-inventory.ts';
import { createRedisLearnedRules } from './create-redis-learned-rules.ts';
import { createRedisPurgeLog } from './create-redis-purge-log.ts';
import { createRedisUsageBook } from './create-redis-usage-book.ts';
import { createRedisLeases } from './leases/create-redis-leases.ts';
import { createLeaseWatches, type LeaseWatches } from './leases/lease-watches.ts';
import { createPurgeFence, type PurgeFence } from './purge-fence.ts';

export type RedisStoresWarning = RedisWarning | EvictionWarning;

export interface RedisStoresOptions {
  readonly clock: Clock;
  readonly onWarning: (warning: RedisStoresWarning) => void;
  /** null: bodies are kept elsewhere. */
  readonly bodies: { readonly hasher: Hasher; readonly bytesMax: number } | null;
  /** Milliseconds that never jump; the process's own unless given. */
  readonly monotonicNow?: () => number;
  /** How long a caller waits at most; the store timeout unless given. */
  readonly timeoutMs?: number;
}

export interface RedisStores {
  readonly entries: EntryStore;
  readonly purgeLog: PurgeLog;
  readonly leases: Leases;
  readonly inventory: Inventory;
  readonly usage: UsageBook;
  readonly learned: LearnedRules;
  /** null: bodies are kept elsewhere. */
  readonly bodies: BodyStore | null;
  readonly checkEviction: CheckEviction;
  /** Closes all of them; so does closing the entries. */
  readonly close: () => Promise<void>;
}

/** Connects. Redis being down is no error: the gateway runs uncached until it is there. */
export async function connectRedisStores(
  target: RedisTarget,
  options: RedisStoresOptions,
): Promise<RedisStores> {
  const { clock, timeoutMs = LIMITS.storeTimeoutMs } = options;
  const monotonicNow = options.monotonicNow ?? ((): number => performance.now());
  const reporter = createOutageReporter(options.onWarning);
  const connecting = { reporter, monotonicNow, timeoutMs };
  const [connection, bodyConnection] = await Promise.all([
    connectRedis(target, { ...connecting, use: 'commands' }),
    options.bodies && connectRedis(target, { ...connecting, use: 'bodies' }),
  ]);
  const reader = randomUUID();
  const changes = createChangedKeys();
  const fence = createPurgeFence();
  const watches = createLeaseWatches(connection);
  const channel: Channel = openChannel({
    connection,
    database: databaseOf(target),
    reader,
    reporter: reporter.of(connection.name, 'messages'),
    monotonicNow,
    onDoubt: () => {
      changes.distrustAll();
      watches.checkAll();
    },
    onMessage: (message) => hear(message, { reader, changes, fence, watches, channel }),
  });

  const leases = createRedisLeases({
    connection,
    watches,
    channelName: channel.name,
    monotonicNow,
  });
  const close = doOnce(async () => {
    reporter.close();
    fence.close();
    // These have something to say in parting.
    await Promise.all([leases.close(), channel.close()]);
    connection.close();
    bodyConnection?.close();
  });
  const announcer = createAnnouncer({
    connection,
    channel,
    reader,
    monotonicNow,
    timeoutMs,
    onChange: changes.note,
  });
  return {
    entries: createRedisEntryStore({ connection, channel, changes, announcer, clock, close }),
    purgeLog: createRedisPurgeLog({ connection, channel, fence, reader, clock }),
    leases,
    learned: await createRedisLearnedRules(connection, clock),
    inventory: createRedisInventory({ connection, announcer, clock }),
    usage: createRedisUsageBook({ connection, clock }),
    bodies:
      bodyConnection &&
      options.bodies &&
      createRedisBodyStore({ connection: bodyConnection, ...options.bodies }),
    checkEviction: createEvictionCheck(connection, options.onWarning),
    close,
  };
}

interface Listeners {
  readonly reader: string;
  readonly changes: ChangedKeys;
  readonly fence: PurgeFence;
  readonly watches: LeaseWatches;
  readonly channel: Channel;
}

function hear(message: ChannelMessage, listeners: Listeners): void {
  const { reader, changes, fence, watches } = listeners;
  switch (message.kind) {
    case 'changed':
      // Changes of its own have been noted when they were done.
      if (message.by !== reader) changes.note(message.key);
      break;
    case 'purged':
      if (message.by === reader) fence.noteHeard(reader, message.seq);
      else void learnOfPurge(message.by, message.seq, listeners);
      break;
    case 'heard':
      fence.noteHeard(message.by, message.seq);
      break;
    case 'ended':
      watches.noteEnded(message.token, message.result);
      break;
  }
}

/**
 * Read at once, not when it is next needed: the store may lose it before. What can't be read is not
 * heard of, and the writer waits until nothing is trusted here any more.
 */
async function learnOfPurge(
  by: string,
  seq: number,
  { reader, fence, channel }: Listeners,
): Promise<void> {
  if (await fence.learn()) await channel.tell(by, { kind: 'heard', by: reader, seq });
}

function doOnce(action: () => Promise<void>): () => Promise<void> {
  let doing: Promise<void> | null = null;
  return () => {
    doing ??= action();
    return doing;
  };
}
