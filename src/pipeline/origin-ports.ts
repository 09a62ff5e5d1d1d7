// What passing a request on takes: untouched, from socket to socket, or where its answer may be
// kept for others. As in ports.ts, what may fail in operation is a value.
import type { ClientRequest } from 'node:http';
import type { Readable } from 'node:stream';
import type { OriginHealth } from '../core/http/pick-upstream.ts';
import type { HostPolicy } from '../core/policy/policy.ts';
import type { FetchFailure, HeaderList } from './ports.ts';

/** One turn at an origin of a host; `end` has to be called exactly once. */
export interface OriginTurn {
  readonly originUrl: string;
  /** `failed`: not reached or no usable answer. */
  readonly end: (how: OriginHealth) => void;
}

/** One request to an origin, exactly as it goes on the wire. */
export interface OriginCall {
  /** `http://127.0.0.1:3000` */
  readonly originUrl: string;
  readonly method: string;
  /** Raw request target, in origin form. */
  readonly target: string;
  /** Name, value, name, value … including Host and framing. */
  readonly headers: readonly string[];
  /** Never on a kept connection: it may be as dead as the one before. */
  readonly isOnNewConnection: boolean;
}

/** Connections for what is passed on untouched, upgrades and uploads too. */
export interface OriginConnector {
  /** Starts the request; the body is the caller's to write and to end. */
  readonly open: (call: OriginCall) => ClientRequest;
  /** Ends idle and running connections. */
  readonly close: () => void;
}

/** Whom a request came from, as far as the origin is told. */
export interface Peer {
  /** Of the connection: the client, or a proxy before us. */
  readonly address: string;
  /** Whether it is a configured proxy, whose `X-Forwarded-*` are believed. */
  readonly isTrusted: boolean;
}

/** An interim answer (102, 103) of the origin. */
export interface Information {
  readonly statusCode: number;
  readonly headers: HeaderList;
}

/** One GET to pass on, whose answer may be kept for others. */
export interface PassJob {
  readonly host: HostPolicy;
  /** The normalized URL: what is not in the key is not sent. */
  readonly url: string;
  /** The client's, with conditions of ours in place of its own. */
  readonly headers: HeaderList;
  readonly peer: Peer;
  /** Protocol version the client spoke. */
  readonly httpVersion: string;
  /** null: the client's own. */
  readonly userAgent: string | null;
  /** Until the head of the answer; its body may take any time. */
  readonly timeoutMs: number;
  readonly onInformation: (information: Information) => void;
}

export interface OriginAnswer {
  /** Any three digits. */
  readonly status: number;
  readonly reason: string;
  /** End-to-end; no address in it that only we know. */
  readonly headers: HeaderList;
  /**
   * The bytes that came, in their coding: all of them, where they came with the head and without
   * trailers. Destroying a stream ends the request.
   */
  readonly body: Buffer | Readable;
  /** Trailer fields, known once the body has ended. */
  readonly trailers: () => HeaderList;
  /** false: the body ends with the connection, and can't be told from one that was cut. */
  readonly isDelimited: boolean;
}

/** With the origin that was asked last. */
export type PassResult = { readonly originUrl: string } & (
  | { readonly outcome: 'answer'; readonly answer: OriginAnswer }
  | { readonly outcome: 'failed'; readonly reason: FetchFailure; readonly detail: string }
);

/** Passes requests on to an origin of their host, for answers that may be kept. */
export interface OriginFetcher {
  /** Answers as soon as the head is there; the body streams. */
  readonly pass: (job: PassJob) => Promise<PassResult>;
  readonly close: () => Promise<void>;
}

/** Who is told what comes over a link, until the link is given back. */
export interface LinkListener {
  /** @param chunk is written over after the call: what is kept of it has to be copied */
  readonly onData: (chunk: Buffer) => void;
  /** The origin sends no more, or the connection `isBroken`; told once. */
  readonly onClosed: (isBroken: boolean) => void;
}

/** A bare connection to an origin, for one request at a time. */
export interface OriginLink {
  /** It has served requests before: it may be as dead as its silence. */
  readonly isReused: boolean;
  /** Whether it ever came about. */
  readonly isConnected: () => boolean;
  readonly listen: (listener: LinkListener) => void;
  /** @param head latin1 */
  readonly write: (head: string) => void;
  readonly pause: () => void;
  readonly resume: () => void;
  /** For the next request: the answer has been read to its end, and nothing behind it. */
  readonly keep: () => void;
  readonly destroy: () => void;
}

/** Bare connections that are kept, as the fast lane uses them. */
export interface OriginLinks {
  /** Whether it is of a kind that can be used, and not too many connections are open. */
  readonly isUsable: (originUrl: string) => boolean;
  /** Only where it is usable. */
  readonly open: (originUrl: string) => OriginLink;
  /** Ends idle and running connections. */
  readonly close: () => void;
}
