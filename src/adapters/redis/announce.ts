// Changes an entry and tells every process. The message never comes before the change: whoever
// heard it first would read the old entry and take it for the new one.
import type { Done } from '../../pipeline/ports.ts';
import type { Channel } from './channel/channel.ts';
import { encodeMessage } from './channel/messages.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import type { Command } from './connection/server-link.ts';
import { HEAD_KEY } from './hub.ts';

export interface Announcer {
  /** Done when both are; unavailable when either is, and then nobody may rely on the change. */
  readonly change: <T>(key: string, command: Command<T>) => Promise<Done<T>>;
}

export interface AnnouncerOptions {
  readonly connection: RedisConnection;
  readonly channel: Channel;
  readonly reader: string;
  readonly monotonicNow: () => number;
  readonly timeoutMs: number;
  /** Told of every change of this process, which does not listen to itself. */
  readonly onChange: (key: string) => void;
}

/** Makes the announcer of one process. */
export function createAnnouncer(options: AnnouncerOptions): Announcer {
  const { connection, channel, reader, monotonicNow, timeoutMs, onChange } = options;

  /** One server takes commands in their order: both go in one turn. */
  async function changeAtOnce<T>(key: string, command: Command<T>, text: string): Promise<Done<T>> {
    return await connection.run(key, async (redis) => {
      const [value] = await Promise.all([command(redis), redis.publish(channel.name, text)]);
      return value;
    });
  }

  async function changeThenTell<T>(
    key: string,
    command: Command<T>,
    text: string,
  ): Promise<Done<T>> {
    const deadline = monotonicNow() + timeoutMs;
    const changed = await connection.run(key, command);
    if (changed.state === 'unavailable') return changed;
    const told = await connection.run(
      HEAD_KEY,
      (redis) => redis.publish(channel.name, text),
      Math.max(0, deadline - monotonicNow()),
    );
    return told.state === 'unavailable' ? told : changed;
  }

  return {
    change: async (key, command) => {
      const text = encodeMessage({ kind: 'changed', by: reader, key });
      const done = connection.isOneServer
        ? await changeAtOnce(key, command, text)
        : await changeThenTell(key, command, text);
      // Also when it failed: it may have happened all the same.
      onChange(key);
      return done;
    },
  };
}
