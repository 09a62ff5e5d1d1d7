// What a listener that serves pages is given by the composition root.
import type { RequestListener } from 'node:http';
import type { FastifyInstance, FastifyServerFactory } from 'fastify';
import type { Origin } from '../../core/policy/policy.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import type { OriginConnector, OriginTurn } from '../../pipeline/origin-ports.ts';
import type { Site } from '../../pipeline/state.ts';
import type { Tunnel } from '../bypass/tunnel-upgrade.ts';
import type { UpgradeListener } from '../door/create-http-server.ts';
import type { FinishedRequest } from './visit.ts';

/** What a request reads of the configuration; taken once, at its start. */
export interface Snapshot {
  readonly site: Site;
  readonly pipeline: PipelineDeps;
  readonly isTrustedPeer: (address: string) => boolean;
  /** `server.timeout` */
  readonly timeoutMs: number;
}

export interface GatewayDeps {
  readonly snapshot: () => Snapshot;
  readonly takeOrigin: (origins: readonly Origin[]) => OriginTurn;
  readonly connector: OriginConnector;
  /** Our name in `Via`, by which loops are found. */
  readonly pseudonym: string;
  /** `server.limits.body_bytes`; 0: unlimited. */
  readonly bodyBytesMax: number;
  readonly onFinished: (request: FinishedRequest) => void;
  /** A defect: the client gets a plain 500 with the request id, the log everything. */
  readonly onDefect: (error: unknown, requestId: string) => void;
}

/** Builds the server behind the door, with or without TLS. */
export type ListenerFactory = (
  onUpgrade: UpgradeListener,
  handler: RequestListener,
) => ReturnType<FastifyServerFactory>;

export interface GatewayApp {
  readonly app: FastifyInstance;
  readonly tunnel: Tunnel;
}
