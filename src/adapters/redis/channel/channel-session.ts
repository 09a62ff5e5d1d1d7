// One life of the subscriber connection. It is trusted for a short time after the sending of a
// question that was answered on this very connection: the answer comes behind every message that
// was published before. The question reads where the purge log ends, so that the answer also shows
// a server that is no longer in charge (MOVED) or has lost its data. Trust never outlives the
// connection.
import type { Redis } from 'ioredis';
import { describeRedisError } from '../../../core/redis-error.ts';
import { HEAD_KEY } from '../hub.ts';
import { type ChannelMessage, decodeMessage } from './messages.ts';

/** How long an answered question proves that nothing has been missed. */
export const TRUST_MS = 200;
/** A question that takes longer is the end of the connection. */
export const QUESTION_TIMEOUT_MS = 1_000;

export interface SessionOptions {
  /** Not connected yet, and of no use to anybody else. */
  readonly client: Redis;
  readonly channels: readonly string[];
  readonly monotonicNow: () => number;
  readonly onSubscribed: () => void;
  readonly onMessage: (message: ChannelMessage) => void;
  readonly onEnd: (reason: string) => void;
}

export interface ChannelSession {
  readonly isTrustedAt: (nowMs: number) => boolean;
  /** Where the purge log ends, as far as this connection has told. */
  readonly logEnd: () => number;
  /** Its name, as the last answer had it; null: none. */
  readonly logLife: () => string | null;
  /**
   * Asks.
   *
   * @param isWorthTrust whether the answer is, of a store with this name
   */
  readonly ask: (isWorthTrust: (life: string | null) => boolean) => void;
  readonly close: () => void;
}

/** Connects and subscribes; `onEnd` comes once, whatever happens. */
export function openChannelSession(options: SessionOptions): ChannelSession {
  const { client, channels, monotonicNow } = options;
  let trustedUntil = Number.NEGATIVE_INFINITY;
  let logEnd = 0;
  let logLife: string | null = null;
  let purgesHeard = 0;
  let isSubscribed = false;
  let isFailed = false;
  let endReason = 'disconnected';

  const fail = (error: unknown): void => {
    if (isFailed) return;
    isFailed = true;
    endReason = describeRedisError(error);
    client.disconnect();
  };
  client.on('error', (error: unknown) => {
    endReason = describeRedisError(error);
  });
  client.once('end', () => {
    isSubscribed = false;
    trustedUntil = Number.NEGATIVE_INFINITY;
    options.onEnd(endReason);
  });
  client.on('message', (_channel: string, text: string) => {
    const message = decodeMessage(text);
    if (message === null) return;
    if (message.kind === 'purged') {
      logEnd = message.seq;
      purgesHeard += 1;
    }
    options.onMessage(message);
  });

  async function begin(): Promise<void> {
    await client.connect();
    await client.subscribe(...channels);
    isSubscribed = true;
    options.onSubscribed();
  }

  async function ask(isWorthTrust: (life: string | null) => boolean): Promise<void> {
    const askedAt = monotonicNow();
    const heardBefore = purgesHeard;
    const [seq, life = null] = await client.hmget(HEAD_KEY, 'seq', 'life');
    // A purge that came meanwhile knows better: its message may be behind the answer.
    if (purgesHeard === heardBefore) logEnd = Number(seq ?? 0);
    logLife = life;
    if (!isWorthTrust(life)) trustedUntil = Number.NEGATIVE_INFINITY;
    else if (isSubscribed) trustedUntil = Math.max(trustedUntil, askedAt + TRUST_MS);
  }

  begin().catch(fail);
  return {
    isTrustedAt: (nowMs) => nowMs < trustedUntil,
    logEnd: () => logEnd,
    logLife: () => logLife,
    ask: (isWorthTrust) => {
      if (isSubscribed) ask(isWorthTrust).catch(fail);
    },
    close: () => client.disconnect(),
  };
}
