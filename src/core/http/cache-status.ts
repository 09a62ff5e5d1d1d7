// The `Cache-Status` member of this cache (RFC 9211): why an answer came from where it came.
import { formatItem } from './structured-field.ts';

/** Why a request went on to the page's source (RFC 9211 §2.2). */
export type ForwardReason =
  | 'bypass'
  | 'method'
  | 'uri-miss'
  | 'vary-miss'
  | 'miss'
  | 'request'
  | 'stale'
  | 'partial';

export interface CacheStatus {
  /** null: answered from the store. A stale hit is a hit with a negative ttl. */
  readonly forward: ForwardReason | null;
  /** Status of the forwarded answer, where it isn't the one the client gets. */
  readonly forwardStatus?: number | undefined;
  /** Seconds of freshness left; may be negative. */
  readonly ttlSeconds?: number | undefined;
  readonly stored?: boolean | undefined;
  readonly collapsed?: boolean | undefined;
  readonly key?: string | undefined;
  readonly detail?: string | undefined;
}

/** This cache's name in the field. */
const CACHE_NAME = 'edge-gateway';

/** `edge-gateway; hit; ttl=3214; key="cache:1:1:96ba2d5b7d32d005"` */
export function formatCacheStatus(status: CacheStatus): string {
  return formatItem(CACHE_NAME, [
    ['hit', status.forward === null ? true : undefined],
    ['fwd', status.forward === null ? undefined : { token: status.forward }],
    ['fwd-status', status.forwardStatus],
    ['ttl', status.ttlSeconds],
    ['stored', status.stored === true ? true : undefined],
    ['collapsed', status.collapsed === true ? true : undefined],
    ['key', status.key],
    ['detail', status.detail === undefined ? undefined : { token: status.detail }],
  ]);
}
