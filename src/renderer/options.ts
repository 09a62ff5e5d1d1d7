// What whoever starts a render service may choose, and what holds when nothing is chosen.
import type { Socket } from 'node:net';
import type { Origin } from '../core/policy/policy.ts';

/** A host whose pages may be rendered; a HostPolicy is one. */
export interface RenderHost {
  readonly domain: string;
  readonly origins: readonly Origin[];
  /** Host header sent to the origin; null: the one of the page's URL. */
  readonly originHostHeader: string | null;
  readonly scheme: 'http' | 'https';
}

export type Log = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields: Readonly<Record<string, unknown>>,
) => void;

export type RenderListen =
  | { readonly host: string; readonly port: number }
  /** A socket file; what is left of a dead predecessor is replaced. */
  | { readonly path: string };

export interface RenderServiceOptions {
  readonly listen: RenderListen;
  /** Bearer token; needed unless the service listens on loopback or a socket file. */
  readonly token?: string | null;
  /** The configured host of a lower-case name without port, or null. Asked anew every time. */
  readonly findHost: (host: string) => RenderHost | null;
  /** Our name in `Via`: the gateway's own, so that it knows its renderer when it meets it. */
  readonly pseudonym?: string;
  /** The browser; null: the first that is found where systems put it. */
  readonly executablePath?: string | null;
  readonly pool?: Partial<PoolOptions>;
  /** A render of our own when none succeeded for this long. */
  readonly canaryIntervalMs?: number;
  readonly log?: Log;
  /** How a page reaches other people's servers; by default after DNS, public addresses only. */
  readonly connectPublic?: ConnectPublic;
}

export interface PublicTarget {
  /** A name or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Connects, or throws: RefusedError when the page may not go there. */
export type ConnectPublic = (target: PublicTarget, signal: AbortSignal) => Promise<Socket>;

export interface PoolSize {
  /** Pages rendered at once. */
  readonly tabs: number;
  /** Pages waiting for a tab; beyond it the answer is 503. */
  readonly queueMax: number;
}

export interface PoolOptions extends PoolSize {
  /** A browser is replaced after this many renders, this long, or at this much memory. */
  readonly rendersPerBrowser: number;
  readonly browserAgeMs: number;
  readonly browserRssBytes: number;
  /** Time the renders of a replaced browser have to finish. */
  readonly drainTimeoutMs: number;
}

export const POOL_DEFAULTS: PoolOptions = {
  tabs: 4,
  queueMax: 32,
  rendersPerBrowser: 500,
  browserAgeMs: 3_600_000,
  browserRssBytes: 3 * 1024 * 1024 * 1024,
  drainTimeoutMs: 60_000,
};

export const CANARY_INTERVAL_MS = 30_000;
export const DEFAULT_PSEUDONYM = 'edge-gateway-renderer';
