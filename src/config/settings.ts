// What belongs to the process and not to one host: where it listens, where it stores, how it logs.
// Built by compile-settings, from the same files as the PolicySet.
import type { PolicySet } from '../core/policy/policy.ts';
import type { RedisTarget } from '../core/redis-target.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface AdminSettings {
  readonly listen: ListenAddress;
  /** null: only loopback may be bound. */
  readonly token: string | null;
}

export interface TlsSettings {
  readonly listen: ListenAddress;
  /** Absolute paths; read again on every reload. */
  readonly certFile: string;
  readonly keyFile: string;
}

export interface ServerLimits {
  readonly headerFieldsMax: number;
  readonly headerBytesMax: number;
  /** 0: unlimited. */
  readonly bodyBytesMax: number;
  readonly connectionsMax: number;
  readonly pageBytesMax: number;
  readonly waitersPerKeyMax: number;
  readonly headersTimeoutMs: number;
  readonly bodyIdleTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
}

export interface StorageSettings {
  readonly basePath: string;
  readonly bodies: 'filesystem' | 'redis';
  /** Quota of bodies and metadata together. */
  readonly bytesMax: number;
  /** null: nothing is swept. */
  readonly cleanupIntervalMs: number | null;
}

export type RenderEngine = 'chromium' | 'service' | 'origin' | 'off';

/** Which wire contract the render services speak. */
export type RenderProtocol = 'edge-gateway' | 'prerender' | 'rendertron' | 'browserless';

export interface ChromiumSettings {
  /** null: found where systems put it. */
  readonly executablePath: string | null;
  /** Pages rendered at once, and renders that may wait. */
  readonly tabs: number;
  readonly queueMax: number;
}

export interface RenderServiceSettings {
  readonly urls: readonly string[];
  readonly token: string | null;
  readonly protocol: RenderProtocol;
}

export interface Settings {
  readonly server: {
    readonly listen: ListenAddress;
    readonly tls: TlsSettings | null;
    /** Processes that serve; `auto`: one a core of the machine that it starts on. */
    readonly workers: number | 'auto';
    /** Until an answer begins. */
    readonly timeoutMs: number;
    /** CIDRs or addresses. */
    readonly trustedProxies: readonly string[];
    readonly limits: ServerLimits;
    readonly watchConfig: boolean;
  };
  /** The pull endpoints; null: they are off. */
  readonly integration: { readonly listen: ListenAddress } | null;
  readonly admin: AdminSettings;
  /** null: the embedded store. */
  readonly redis: RedisTarget | null;
  readonly storage: StorageSettings;
  readonly memory: { readonly bytesMax: number };
  readonly render: {
    readonly engine: RenderEngine;
    readonly chromium: ChromiumSettings;
    readonly service: RenderServiceSettings | null;
    /** 0 to 1: what refreshes may take of what is rendered at once. */
    readonly refreshShare: number;
  };
  readonly diagnostics: 'headers' | 'off';
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent' };
}

/** One whole configuration, built aside and swapped in one assignment. */
export interface Config {
  readonly settings: Settings;
  readonly policies: PolicySet;
  /** Absolute paths of every file that was read: what a watcher watches. */
  readonly files: readonly string[];
}
