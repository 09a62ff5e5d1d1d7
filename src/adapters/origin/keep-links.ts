// Bare connections to origins over plain HTTP, kept for the next request. Each belongs to one
// request at a time; whatever an origin says between requests ends the connection.
import { connect, type Socket } from 'node:net';
import type { LinkListener, OriginLink, OriginLinks } from '../../pipeline/origin-ports.ts';

/** Per origin. */
const LINKS_MAX = 512;
const IDLE_LINKS_MAX = 64;
/** Shorter than most servers keep an idle connection, so that reuse rarely meets a closed one. */
const IDLE_TIMEOUT_MS = 4_000;
const SWEEP_MS = 1_000;
const HTTP_PORT = 80;
const READ_BYTES_MAX = 65_536;

/** The connections to one origin. */
interface Pool {
  readonly host: string;
  readonly port: number;
  /** Newest last. */
  readonly idle: Link[];
  readonly open: Set<Link>;
}

/** Opens no connection yet. */
export function keepLinks(): OriginLinks {
  const pools = new Map<string, Pool | null>();
  // One for all: a chunk is done with before the next is read.
  const incoming = Buffer.allocUnsafeSlow(READ_BYTES_MAX);
  const timer = setInterval(() => {
    const latest = performance.now() - IDLE_TIMEOUT_MS;
    for (const pool of pools.values()) {
      while (pool !== null && (pool.idle[0]?.idleSinceMs ?? latest) < latest) {
        pool.idle.shift()?.destroy();
      }
    }
  }, SWEEP_MS).unref();

  const poolOf = (originUrl: string): Pool | null => {
    const known = pools.get(originUrl);
    if (known !== undefined) return known;
    const pool = makePool(originUrl);
    pools.set(originUrl, pool);
    return pool;
  };

  return {
    isUsable: (originUrl) => {
      const pool = poolOf(originUrl);
      return pool !== null && (pool.idle.length > 0 || pool.open.size < LINKS_MAX);
    },
    open: (originUrl) => {
      const pool = poolOf(originUrl);
      if (pool === null) throw new Error('not an origin over plain HTTP');
      return pool.idle.pop() ?? new Link(pool, incoming);
    },
    close: () => {
      clearInterval(timer);
      for (const pool of pools.values()) for (const link of pool?.open ?? []) link.destroy();
    },
  };
}

/** null: not over plain HTTP. */
function makePool(originUrl: string): Pool | null {
  const { protocol, hostname, port } = new URL(originUrl);
  if (protocol !== 'http:') return null;
  // Node wants IPv6 addresses without the brackets of a URL.
  const host = hostname.replace(/^\[|\]$/g, '');
  return { host, port: port === '' ? HTTP_PORT : Number(port), idle: [], open: new Set() };
}

class Link implements OriginLink {
  isReused = false;
  /** By the monotonic clock. */
  idleSinceMs = 0;
  readonly #pool: Pool;
  readonly #socket: Socket;
  #isConnected = false;
  #listener: LinkListener | null = null;

  constructor(pool: Pool, incoming: Buffer) {
    this.#pool = pool;
    const { host, port } = pool;
    const callback = (bytes: number): boolean => {
      if (this.#listener === null) this.#socket.destroy();
      else this.#listener.onData(incoming.subarray(0, bytes));
      return true;
    };
    // Reading this way, Node allocates nothing for a chunk.
    const onread = { buffer: incoming, callback };
    this.#socket = connect({ host, port, noDelay: true, keepAlive: true, onread });
    pool.open.add(this);
    this.#socket.once('connect', () => {
      this.#isConnected = true;
    });
    // The long way asks again, and says what is wrong.
    this.#socket.on('error', () => undefined);
    this.#socket.on('end', () => this.#tellClosed(false));
    this.#socket.on('close', () => {
      pool.open.delete(this);
      this.#tellClosed(true);
    });
  }

  isConnected(): boolean {
    return this.#isConnected;
  }

  listen(listener: LinkListener): void {
    this.#listener = listener;
  }

  write(head: string): void {
    this.#socket.write(head, 'latin1');
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  keep(): void {
    this.#listener = null;
    const { idle } = this.#pool;
    if (this.#socket.destroyed || this.#socket.readableEnded || idle.length >= IDLE_LINKS_MAX) {
      this.#socket.destroy();
      return;
    }
    this.isReused = true;
    this.idleSinceMs = performance.now();
    idle.push(this);
  }

  destroy(): void {
    this.#listener = null;
    this.#socket.destroy();
  }

  #tellClosed(isBroken: boolean): void {
    const listener = this.#listener;
    this.#listener = null;
    if (listener !== null) {
      listener.onClosed(isBroken);
      return;
    }
    const { idle } = this.#pool;
    const at = idle.indexOf(this);
    if (at !== -1) idle.splice(at, 1);
    this.#socket.destroy();
  }
}
