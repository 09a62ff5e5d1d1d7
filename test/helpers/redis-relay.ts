// A relay before a Redis: its answers can be held back, and the connections that carry messages can
// be made to swallow everything, as a broken network does: they stay open, and nothing arrives.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface RedisRelay {
  readonly url: string;
  readonly port: number;
  /** So late come answers. */
  delayMs: number;
  /** From now on subscribers hear nothing, on old connections and new ones. */
  readonly cutMessages: () => void;
  /** The connections that swallowed are closed, new ones work. */
  readonly heal: () => void;
  /** Closes every connection. */
  readonly drop: () => void;
  /** How many commands came through, by name, in lower case. */
  readonly commands: ReadonlyMap<string, number>;
  /** Told of every piece that goes through, when it does, with the connection it is of. */
  onPiece: (from: 'client' | 'redis', text: string, connection: object) => void;
  readonly close: () => Promise<void>;
}

interface Pair {
  readonly client: Socket;
  isSubscriber: boolean;
  isCut: boolean;
}

/** Listens on a free loopback port and leads to the Redis on this one. */
export async function startRedisRelay(redisPort: number): Promise<RedisRelay> {
  const pairs = new Set<Pair>();
  const commands = new Map<string, number>();
  let areMessagesCut = false;

  const server = createServer((client) => {
    const redis = connect(redisPort, '127.0.0.1');
    const pair: Pair = { client, isSubscriber: false, isCut: false };
    pairs.add(pair);
    client.on('data', (chunk) => {
      for (const name of commandNames(chunk)) commands.set(name, (commands.get(name) ?? 0) + 1);
      pair.isSubscriber ||= /\r\nsubscribe\r\n/i.test(chunk.toString('latin1'));
      pair.isCut ||= areMessagesCut && pair.isSubscriber;
      relay.onPiece('client', chunk.toString('latin1'), pair);
      if (!pair.isCut) redis.write(chunk);
    });
    redis.on('data', (chunk) => {
      const send = (): void => {
        if (pair.isCut || client.destroyed) return;
        relay.onPiece('redis', chunk.toString('latin1'), pair);
        client.write(chunk);
      };
      if (relay.delayMs === 0) send();
      else setTimeout(send, relay.delayMs);
    });
    for (const [from, to] of [
      [client, redis],
      [redis, client],
    ] as const) {
      from.on('error', () => to.destroy());
      from.on('close', () => {
        to.destroy();
        pairs.delete(pair);
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const relay: RedisRelay = {
    url: `redis://127.0.0.1:${port}`,
    port,
    delayMs: 0,
    commands,
    onPiece: () => undefined,
    cutMessages: () => {
      areMessagesCut = true;
      for (const pair of pairs) pair.isCut ||= pair.isSubscriber;
    },
    heal: () => {
      areMessagesCut = false;
      for (const { client, isCut } of pairs) if (isCut) client.destroy();
    },
    drop: () => {
      for (const { client } of pairs) client.destroy();
    },
    close: async () => {
      relay.drop();
      server.close();
      await once(server, 'close');
    },
  };
  return relay;
}

/** First words of the commands in a piece of what a client sent. */
function commandNames(chunk: Buffer): readonly string[] {
  const found = chunk.toString('latin1').matchAll(/\*\d+\r\n\$\d+\r\n([a-zA-Z]+)\r\n/g);
  return [...found].map(([, name = '']) => name.toLowerCase());
}
