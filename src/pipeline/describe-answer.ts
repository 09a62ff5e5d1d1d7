// Says what was decided and why: one record for log and metrics, and the headers that tell it to
// the client. Cache-Status is a standard and always there; the X-headers carry the reference
// engine's names and can be switched off.

import type { Decision } from '../core/decision/decision.ts';
import { type ForwardReason, formatCacheStatus } from '../core/http/cache-status.ts';
import { encodeHeaderText } from '../core/http/header-list.ts';
import { CUT_BEHIND_HEAD } from '../core/http/origin-failure.ts';
import { formatCacheKey } from '../core/key/cache-key.ts';
import type { CacheKey, HeaderList } from './ports.ts';
import type {
  AnswerSource,
  BodyFlaw,
  CacheVerdict,
  Keyed,
  Received,
  RequestRecord,
} from './state.ts';

export interface Diagnosis {
  readonly source: AnswerSource;
  readonly cache: CacheVerdict;
  /** null: answered from the store; undefined: this cache had no part in it. */
  readonly forward?: ForwardReason | null;
  readonly ttlSeconds?: number;
  readonly ageSeconds?: number;
  readonly isStored?: boolean;
  readonly isCollapsed?: boolean | undefined;
  readonly detail: string | null;
  readonly originUrl?: RequestRecord['originUrl'];
  /** The origin gave no answer. */
  readonly failure?: RequestRecord['failure'];
  /** Where it differs from the decision's. */
  readonly reason?: RequestRecord['reason'];
  readonly action?: RequestRecord['action'];
  /** Where it was looked up, if not under the key of the decision. */
  readonly key?: CacheKey;
  /** Status of the origin, where it isn't the client's. */
  readonly forwardStatus?: number;
}

/** `X-Render-Cache`: the reference engine's word for a verdict. */
const RENDER_CACHE_WORDS: Readonly<Record<CacheVerdict, string | null>> = {
  hit: 'hit',
  stale: 'stale',
  miss: 'new',
  bypass: 'bypass',
  none: null,
};

export function describe(
  { request, site }: Received,
  decision: Decision,
  diagnosis: Diagnosis,
): { readonly record: RequestRecord; readonly headers: HeaderList } {
  const record = recordOf(request.requestId, decision, diagnosis);
  const headers: [string, string][] = [];
  if (diagnosis.forward !== undefined) {
    headers.push(['Cache-Status', cacheStatusOf(record, diagnosis)]);
  }
  if (!site.showsDiagnostics) return { record, headers };
  headers.push(['X-Request-ID', request.requestId]);
  if (record.source !== 'status') headers.push(['X-Render-Source', record.source]);
  const isPassedOn = record.source === 'bypass' && diagnosis.isStored !== true;
  const word = isPassedOn ? 'bypass' : RENDER_CACHE_WORDS[record.cache];
  // Nothing is new where nothing could be got.
  if (word !== null && record.source !== 'status') headers.push(['X-Render-Cache', word]);
  if (diagnosis.ageSeconds !== undefined) {
    headers.push(['X-Cache-Age', String(diagnosis.ageSeconds)]);
  }
  if (record.rule !== null) headers.push(['X-Matched-Rule', encodeHeaderText(record.rule)]);
  if (decision.host !== null && decision.matchedBy === null) {
    headers.push(['X-Unmatched-Dimension', 'true']);
  }
  if (record.url !== null) headers.push(['X-Processed-URL', record.url]);
  if (record.action === 'status') headers.push(['X-Render-Action', 'status']);
  return { record, headers };
}

/** Of a request whose client left while its page was still waited for. */
export function describeLeft({ request, decision, key }: Keyed): RequestRecord {
  return recordOf(request.requestId, decision, {
    source: decision.action === 'bypass' ? 'bypass' : 'none',
    cache: 'miss',
    detail: 'client_left',
    key,
  });
}

/** The same record with what showed behind the head. */
export function describeFlaw(record: RequestRecord, flaw: BodyFlaw): RequestRecord {
  if (flaw !== 'cut') return { ...record, cache: 'bypass', detail: flaw };
  const detail = record.detail ?? CUT_BEHIND_HEAD.error;
  return { ...record, detail, failure: CUT_BEHIND_HEAD };
}

function recordOf(requestId: string, decision: Decision, diagnosis: Diagnosis): RequestRecord {
  const isKeyed = decision.error === null;
  const { host, dimension } = decision;
  return {
    requestId,
    host,
    dimension: dimension?.name ?? null,
    bot: decision.bot,
    rule: isKeyed ? (decision.rule?.id ?? null) : null,
    action: diagnosis.action ?? decision.action,
    reason: diagnosis.reason ?? decision.reason,
    source: diagnosis.source,
    cache: diagnosis.cache,
    url: decision.normalized,
    key:
      diagnosis.key ??
      (isKeyed && host !== null && dimension !== null && decision.action === 'render'
        ? formatCacheKey({ hostId: host.id, dimensionId: dimension.id, hash: decision.hash })
        : null),
    detail: diagnosis.detail,
    originUrl: diagnosis.originUrl ?? null,
    failure: diagnosis.failure ?? null,
    strippedCount: isKeyed ? decision.stripped.length : 0,
    isCollapsed: diagnosis.isCollapsed === true,
  };
}

function cacheStatusOf(record: RequestRecord, diagnosis: Diagnosis): string {
  return formatCacheStatus({
    forward: diagnosis.forward ?? null,
    forwardStatus: diagnosis.forwardStatus,
    ttlSeconds: diagnosis.ttlSeconds,
    stored: diagnosis.isStored,
    collapsed: diagnosis.isCollapsed,
    key: record.key ?? undefined,
    detail: diagnosis.detail ?? undefined,
  });
}
