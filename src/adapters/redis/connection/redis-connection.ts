// What the stores see of Redis, whatever it is made of: commands go to the server that has their
// key, each is bounded, and what fails comes back as a value.
import type { Redis } from 'ioredis';
import { describeRedisError } from '../../../core/redis-error.ts';
import type { Done } from '../../../pipeline/ports.ts';
import type { ClientOptions } from './redis-target.ts';
import type { Command } from './server-link.ts';

export interface RedisConnection {
  /** For messages. */
  readonly name: string;
  /** One server has every key: commands of one turn arrive together and in their order. */
  readonly isOneServer: boolean;
  /**
   * Runs commands about one key at the server that has it. May run them a second time at another,
   * when the key has moved.
   *
   * @param timeoutMs how long to wait; as long as any caller may unless given
   */
  readonly run: <T>(key: string, command: Command<T>, timeoutMs?: number) => Promise<Done<T>>;
  /** Every server that has keys, to be asked one by one; empty: none is known. */
  readonly servers: () => readonly RedisServerAccess[];
  /** A client of its own, not connected, to the server that has the key; null: none is known. */
  readonly openClient: (key: string, options: ClientOptions) => Redis | null;
  /** How long the key's server has been the same and connected; 0: it is not. */
  readonly settledForMs: (key: string) => number;
  /** Told when keys have got another server, which need not mean that the one before is gone. */
  readonly onReplaced: (listener: () => void) => void;
  readonly close: () => void;
}

export interface RedisServerAccess {
  readonly run: <T>(command: Command<T>) => Promise<Done<T>>;
}

/** What an attempt throws becomes a value. */
export async function answer<T>(attempt: Promise<T>): Promise<Done<T>> {
  try {
    return { state: 'done', value: await attempt };
  } catch (error) {
    return { state: 'unavailable', reason: describeRedisError(error) };
  }
}
