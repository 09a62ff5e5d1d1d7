// What bypass needs from outside, and what it is told per request: the target is chosen by the
// pipeline before anything is sent.
import type { Scheme } from '../../core/http/forwarded.ts';
import type { RawHeaders } from '../../core/http/hop-headers.ts';
import type { Downstream } from '../../core/http/tell-downstream.ts';
import type { OriginConnector } from '../../pipeline/origin-ports.ts';

/** The request that goes upstream where it is not the one that was received. */
export interface InnerRequest {
  /** In origin form. */
  readonly target: string;
  readonly headers: RawHeaders;
}

export interface AnswerHead {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
}

/** Where one request goes and how it is presented there. */
export interface BypassTarget {
  /** Told to the client when the request could not be passed on; the log has the same. */
  readonly requestId: string;
  /** null: the request as it was received. */
  readonly inner: InnerRequest | null;
  readonly originUrl: string;
  /** `Host` upstream: the public one, or `origin_host_header`. */
  readonly hostHeader: string;
  /** The `Host` the client asked for, port included. */
  readonly publicHost: string;
  readonly scheme: Scheme;
  /** Until the first byte of the answer; bodies may take any time. */
  readonly timeoutMs: number;
  /** null: the client's own. */
  readonly userAgent: string | null;
  /** What caches in front are told of the answer. */
  readonly downstream: Downstream;
  /** Added to the answer, replacing the origin's of that name; `Cache-Status` is a list. */
  readonly extraResponseHeaders: readonly (readonly [string, string])[];
  /** Told of the answer; it is passed on when that is done. Never rejects. */
  readonly onAnswer?: (head: AnswerHead) => Promise<void>;
}

/** How one bypassed request went: for the log, the metrics and the choice of the next origin. */
export interface BypassOutcome {
  readonly originUrl: string;
  /** The client's. */
  readonly status: number;
  /** RFC 9209 error type; null: the origin answered, as far as is known. */
  readonly error: string | null;
  /** Inner detail, for the log only. */
  readonly detail: string | null;
}

export interface BypassDeps {
  readonly connector: OriginConnector;
  /** Our name in `Via`; unique to this installation, because it is how loops are found. */
  readonly pseudonym: string;
  /** Whether an address is one of `server.trusted_proxies`. */
  readonly isTrustedPeer: (address: string) => boolean;
  /** `server.limits.body_bytes`; 0: unlimited. */
  readonly bodyBytesMax: number;
}
