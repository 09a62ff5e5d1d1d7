// Redis loses all it has, or is replaced by an empty one, while one of two machines fetches a page:
// purges that were answered before hold all the same, though nothing tells of them any more.
import type { Socket } from 'node:net';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { postPurge } from '../helpers/post-purge.ts';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { BOT, HUMAN, page, type Stage, setStage } from './stage.ts';

interface Scene {
  readonly one: Stage;
  readonly server: () => RedisServer;
  readonly replace: () => Promise<void>;
}

type Act = (scene: Scene) => Promise<void>;

const HELD = { url: 'http://site.test/held' };
const OTHER = { url: 'http://site.test/other' };

const LOSSES: readonly (readonly [name: string, act: Act])[] = [
  [
    'purged, emptied',
    async ({ one, server }) => {
      await purge(one, HELD);
      await empty(server());
    },
  ],
  [
    'purged, emptied, another page purged',
    async ({ one, server }) => {
      await purge(one, HELD);
      await empty(server());
      await purge(one, OTHER);
    },
  ],
  [
    'all purged, replaced',
    async ({ one, replace }) => {
      await purge(one, { all: true });
      await replace();
    },
  ],
  [
    'purged, replaced, another page purged',
    async ({ one, replace }) => {
      await purge(one, HELD);
      await replace();
      await purge(one, OTHER);
    },
  ],
];

const CLIENTS = [
  ['a crawler', BOT],
  ['a person', HUMAN],
] as const;

describeWithRedis('what is fetched while Redis is lost', () => {
  test.each(
    CLIENTS.flatMap(([who, agent]) =>
      LOSSES.map(([what, act]) => [who, what, agent, act] as const),
    ),
  )('%s, %s: is not stored', async (_who, _what, userAgent, act) => {
    let server = await startRedisServer();
    onTestFinished(() => server.stop());
    const held: Socket[] = [];
    let version = 1;
    let isHolding = true;
    const versioned = (): string => page(`v${version}`, 'Cache-Control: max-age=600');
    const origin = (_request: unknown, socket: Socket): string | null => {
      if (!isHolding) return versioned();
      held.push(socket);
      return null;
    };
    const gateway = `storage: {bodies: redis}\nredis: {url: "${server.url}"}\n`;
    const one = await setStage({ gateway, origin: versioned });
    const other = await setStage({ gateway, origin });
    const fetched = other.ask('/held', { userAgent });
    await waitUntil('the origin is asked', () => held.length === 1);
    const old = versioned();
    version = 2;
    isHolding = false;
    await act({
      one,
      server: () => server,
      replace: async () => {
        await server.kill();
        server = await startRedisServer({ port: server.port });
      },
    });
    for (const socket of held) socket.write(old);
    expect((await fetched).body).toBe('v1');
    for (const stage of [other, one, other]) {
      expect((await stage.ask('/held', { userAgent })).body).toBe('v2');
    }
  });
});

async function empty({ url }: RedisServer): Promise<void> {
  const raw = new Redis(url);
  await raw.flushall();
  await raw.quit();
}

/** Until it is answered: while gateways find a new server, it may not be. */
async function purge({ gateway }: Stage, body: object): Promise<void> {
  await waitUntil('the purge is carried out', async () => {
    const { status } = await postPurge(gateway.adminPort, body);
    return status === 200;
  });
}
