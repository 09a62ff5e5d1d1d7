// Hears of failovers from the Sentinels themselves. A master that is replaced may still answer, cut
// off from those who replaced it; without this it would be believed for as long as it does.
import type { Redis } from 'ioredis';
import { pauseBefore, type RedisTarget } from '../../../core/redis-target.ts';
import { placeOfNode } from './redis-target.ts';

type SentinelTarget = Extract<RedisTarget, { kind: 'sentinel' }>;

const CHANNEL = '+switch-master';

/**
 * Connects to every Sentinel, in the background and again after every end. One that is not there is
 * no trouble as long as the master is.
 *
 * @returns ends it
 */
export function watchSentinels(target: SentinelTarget, onSwitch: () => void): () => void {
  const login = { user: null, password: null, tls: target.login.tls };
  const clients = target.sentinels.map((address): Redis => {
    const client = placeOfNode(address, login).open({ retryStrategy: pauseBefore });
    client.on('error', () => undefined);
    client.on('ready', () => {
      // A failure of this is an end of the connection.
      client.subscribe(CHANNEL).catch(() => undefined);
    });
    client.on('message', (_channel: string, text: string) => {
      if (text.startsWith(`${target.name} `)) onSwitch();
    });
    client.connect().catch(() => undefined);
    return client;
  });
  return () => {
    for (const client of clients) client.disconnect();
  };
}
