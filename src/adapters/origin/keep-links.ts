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

interface Pool {
  readonly host: string;
  readonly port: number;
  /** Newest last. */
  readonly idle: Link[];
  open: number;
}

interface Link {
  readonly socket: Socket;
  idleSinceMs: number;
  listener: LinkListener | null;
  isConnected: boolean;
  isReused: boolean;
}

/** Opens no connection yet. */
export function keepLinks(): OriginLinks {
  const pools = new Map<string, Pool | null>();
  const sockets = new Set<Socket>();
  const timer = setInterval(() => {
    const latest = performance.now() - IDLE_TIMEOUT_MS;
    for (const pool of pools.values()) {
      while (pool !== null && (pool.idle[0]?.idleSinceMs ?? latest) < latest) {
        pool.idle.shift()?.socket.destroy();
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

  const dial = (pool: Pool): Link => {
    const socket = connect({ host: pool.host, port: pool.port, noDelay: true, keepAlive: true });
    const link: Link = {
      socket,
      idleSinceMs: 0,
      listener: null,
      isConnected: false,
      isReused: false,
    };
    pool.open += 1;
    sockets.add(socket);
    const tellClosed = (isBroken: boolean): void => {
      const { listener } = link;
      link.listener = null;
      if (listener === null) forgetIdle(pool, link);
      else listener.onClosed(isBroken);
    };
    socket.once('connect', () => {
      link.isConnected = true;
    });
    socket.on('data', (chunk) => {
      if (link.listener === null) socket.destroy();
      else link.listener.onData(chunk);
    });
    // The long way asks again, and says what is wrong.
    socket.on('error', () => undefined);
    socket.on('end', () => tellClosed(false));
    socket.on('close', () => {
      pool.open -= 1;
      sockets.delete(socket);
      tellClosed(true);
    });
    return link;
  };

  return {
    isUsable: (originUrl) => {
      const pool = poolOf(originUrl);
      return pool !== null && (pool.idle.length > 0 || pool.open < LINKS_MAX);
    },
    open: (originUrl) => {
      const pool = poolOf(originUrl);
      if (pool === null) throw new Error('not an origin over plain HTTP');
      return present(pool.idle.pop() ?? dial(pool), pool);
    },
    close: () => {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** null: not over plain HTTP. */
function makePool(originUrl: string): Pool | null {
  const { protocol, hostname, port } = new URL(originUrl);
  if (protocol !== 'http:') return null;
  // Node wants IPv6 addresses without the brackets of a URL.
  const host = hostname.replace(/^\[|\]$/g, '');
  return { host, port: port === '' ? HTTP_PORT : Number(port), idle: [], open: 0 };
}

function present(link: Link, pool: Pool): OriginLink {
  const { socket } = link;
  return {
    isReused: link.isReused,
    isConnected: () => link.isConnected,
    listen: (listener) => {
      link.listener = listener;
    },
    write: (head) => void socket.write(head, 'latin1'),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    keep: () => {
      link.listener = null;
      if (socket.destroyed || socket.readableEnded || pool.idle.length >= IDLE_LINKS_MAX) {
        socket.destroy();
        return;
      }
      link.isReused = true;
      link.idleSinceMs = performance.now();
      pool.idle.push(link);
    },
    destroy: () => {
      link.listener = null;
      socket.destroy();
    },
  };
}

function forgetIdle(pool: Pool, link: Link): void {
  const at = pool.idle.indexOf(link);
  if (at !== -1) pool.idle.splice(at, 1);
  link.socket.destroy();
}
