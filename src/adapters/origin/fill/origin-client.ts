// One connection of a fill pool, which knows whether an attempt died on a keep-alive socket the
// server had already given up: the only failure that is worth a second try. undici
// tells neither whether a socket was used before nor whether a byte of the answer had come.
import { Client, type Dispatcher, Pool } from 'undici';

/** What became of one attempt; filled in while it runs. */
export interface Attempt {
  /** A first byte of the answer arrived. */
  begun: boolean;
  /** Answers that the attempt's connection had begun before it, or null before it has one. */
  client: { readonly answersBegun: number } | null;
}

export interface PoolSettings {
  readonly connections: number;
  readonly connectTimeoutMs: number;
  readonly bodyIdleTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly headerBytesMax: number;
}

/** Attempts by the options object they were started with, which undici hands through as it is. */
const attempts = new WeakMap<object, Attempt>();

/** Notes what happens to the request that is made with `options`. */
export function watchAttempt(options: Dispatcher.RequestOptions): Attempt {
  const attempt: Attempt = { begun: false, client: null };
  attempts.set(options, attempt);
  return attempt;
}

/** True when the attempt failed because its connection, used before, was already dead. */
export function diedUnheard(attempt: Attempt): boolean {
  return !attempt.begun && attempt.client !== null && attempt.client.answersBegun > 0;
}

/** A pool for one origin: bounded connections, one request at a time on each, TLS verified. */
export function createOriginPool(origin: string, settings: PoolSettings): Pool {
  return new Pool(origin, {
    factory: (url, options) => new WatchedClient(url, options),
    connections: settings.connections,
    pipelining: 1,
    allowH2: false,
    connectTimeout: settings.connectTimeoutMs,
    connect: { rejectUnauthorized: true, timeout: settings.connectTimeoutMs },
    // The caller's deadline bounds the wait for the head; its timer is finer than undici's.
    headersTimeout: 0,
    bodyTimeout: settings.bodyIdleTimeoutMs,
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    keepAliveMaxTimeout: settings.keepAliveTimeoutMs,
    maxHeaderSize: settings.headerBytesMax,
  });
}

class WatchedClient extends Client {
  answersBegun = 0;

  constructor(url: URL, options: object) {
    super(url, options);
    this.on('connect', () => {
      this.answersBegun = 0;
    });
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    const attempt = attempts.get(options);
    if (attempt === undefined) throw new Error('a fill without watchAttempt');
    attempt.client = this;
    handler.onResponseStarted = () => {
      attempt.begun = true;
      this.answersBegun += 1;
    };
    return super.dispatch(options, handler);
  }
}
