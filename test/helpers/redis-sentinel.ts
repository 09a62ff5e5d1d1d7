// A master, a replica and a Sentinel that watches both, for failovers.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { findFreePort } from './free-port.ts';
import { type RedisServer, startRedisServer } from './redis-server.ts';
import { waitUntil } from './wait-until.ts';

export interface SentinelGroup {
  /** `host:port` of the Sentinel. */
  readonly sentinel: string;
  readonly name: string;
  readonly master: RedisServer;
  readonly replica: RedisServer;
  /** Where the Sentinel says that the master is. */
  readonly findMasterPort: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

const NAME = 'pages';

/** Starts the three; the replica has caught up when this answers. */
export async function startSentinelGroup(): Promise<SentinelGroup> {
  const master = await startRedisServer({ args: ['--repl-diskless-sync-delay', '0'] });
  const replica = await startRedisServer({
    args: ['--replicaof', '127.0.0.1', String(master.port)],
  });
  const folder = mkdtempSync(join(tmpdir(), 'edge-gateway-sentinel-'));
  const file = join(folder, 'sentinel.conf');
  const port = await findFreePort();
  const lines = [
    `sentinel monitor ${NAME} 127.0.0.1 ${master.port} 1`,
    `sentinel down-after-milliseconds ${NAME} 500`,
    `sentinel failover-timeout ${NAME} 5000`,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  // The file comes first on the command line.
  const server = await startRedisServer({ port, configFile: file, args: ['--sentinel'] });
  const raw = new Redis(server.url);
  const findMasterPort = async (): Promise<number> => {
    const [, found] = (await raw.call('SENTINEL', 'get-master-addr-by-name', NAME)) as string[];
    return Number(found);
  };
  await waitUntil('the Sentinel knows the replica', async () => {
    const replicas = await raw.call('SENTINEL', 'replicas', NAME);
    const text = JSON.stringify(replicas);
    return text.includes(String(replica.port)) && text.includes('"master-link-status","ok"');
  });
  return {
    sentinel: `127.0.0.1:${port}`,
    name: NAME,
    master,
    replica,
    findMasterPort,
    stop: async () => {
      raw.disconnect();
      await Promise.all([server, replica, master].map((one) => one.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
