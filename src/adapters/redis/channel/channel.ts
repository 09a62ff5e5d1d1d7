// The one subscriber connection of a process, through all its lives. Whoever asks whether it is
// trusted keeps it awake: only then does it ask the hub every few milliseconds and stay registered
// as a reader. Trust needs both: an answer to a question that was sent while registered. So every
// purge either waits for this process, or comes before the answer.

import { pauseBefore } from '../../../core/redis-target.ts';
import type { ConnectionReporter } from '../connection/outage-reporter.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { HEAD_KEY } from '../hub.ts';
import { type ChannelSession, openChannelSession, QUESTION_TIMEOUT_MS } from './channel-session.ts';
import { type ChannelMessage, encodeMessage } from './messages.ts';
import { createReaderRegistration } from './reader-registration.ts';
import { createWakefulness } from './wakefulness.ts';

const ASK_EVERY_MS = 50;
/** After that long without a question of ours, none is sent. */
const AWAKE_MS = 2_000;

export interface ChannelOptions {
  readonly connection: RedisConnection;
  readonly database: number;
  /** Names this process: nobody else has it. */
  readonly reader: string;
  readonly reporter: ConnectionReporter;
  readonly monotonicNow: () => number;
  /** Messages may have been missed: all that was read before is in doubt. */
  readonly onDoubt: () => void;
  readonly onMessage: (message: ChannelMessage) => void;
}

export interface Channel {
  /** Everybody's, as `publish` and scripts name it. */
  readonly name: string;
  /** Whether nothing that matters can have been missed. Asks nobody. */
  readonly isTrusted: () => boolean;
  /** Where the purge log ends; means something while the channel is trusted. */
  readonly logEnd: () => number;
  /** Its name; null: not known at the moment. */
  readonly logLife: () => string | null;
  /** Tells one process; nobody is told when that fails. */
  readonly tell: (reader: string, message: ChannelMessage) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Subscribes in the background, and again after every end. */
export function openChannel(options: ChannelOptions): Channel {
  const { connection, database, reader, reporter, monotonicNow } = options;
  const name = `edge-gateway:${database}:news`;
  const nameFor = (process: string): string => `edge-gateway:${database}:to:${process}`;
  const registration = createReaderRegistration(connection, reader, monotonicNow, options.onDoubt);
  let session: ChannelSession | null = null;
  let attempts = 0;
  let retryTimer: NodeJS.Timeout | null = null;
  let isClosed = false;
  const asking = createWakefulness({
    everyMs: ASK_EVERY_MS,
    awakeMs: AWAKE_MS,
    monotonicNow,
    act: () => {
      const wasRegistered = registration.isValidAt(monotonicNow());
      session?.ask((life) => registration.isIn(life) && wasRegistered);
      registration.keep();
    },
  });

  function connect(): void {
    const client = connection.openClient(HEAD_KEY, { commandTimeout: QUESTION_TIMEOUT_MS });
    if (client === null) {
      end('disconnected');
      return;
    }
    session = openChannelSession({
      client,
      channels: [name, nameFor(reader)],
      monotonicNow,
      onSubscribed: () => {
        attempts = 0;
        options.onDoubt();
        reporter.up();
      },
      onMessage: options.onMessage,
      onEnd: end,
    });
  }

  function end(reason: string): void {
    session = null;
    if (isClosed) return;
    reporter.down(reason);
    attempts += 1;
    retryTimer = setTimeout(connect, pauseBefore(attempts)).unref();
  }

  connection.onReplaced(() => session?.close());
  connect();
  return {
    name,
    isTrusted: () => {
      if (isClosed) return false;
      asking.wake();
      const now = monotonicNow();
      return session?.isTrustedAt(now) === true && registration.isValidAt(now);
    },
    logEnd: () => session?.logEnd() ?? 0,
    logLife: () => session?.logLife() ?? null,
    tell: async (process, message) => {
      const text = encodeMessage(message);
      await connection.run(HEAD_KEY, (redis) => redis.publish(nameFor(process), text));
    },
    close: async () => {
      isClosed = true;
      if (retryTimer !== null) clearTimeout(retryTimer);
      asking.close();
      session?.close();
      await registration.end();
    },
  };
}
