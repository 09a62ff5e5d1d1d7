// Default → global → host → rule: the deepest explicit scalar wins, lists are replaced (also by an
// empty one), `*_add` appends. Layer 0 writes every field, so a merged level is always complete.
import type {
  BotPolicy,
  DownstreamCache,
  EffectivePolicy,
  ExpiredPolicy,
  NormalizationPolicy,
  PolicyLevel,
  RecachePolicy,
  RenderPolicy,
  StripPolicy,
} from '../core/policy/policy.ts';
import { EMPTY_STRIP_POLICY, resolveTracking } from '../core/tracking/resolve-tracking.ts';
import { BOT_FIELDS } from './blocks/bots-block.ts';
import { NORMALIZATION_FIELDS } from './blocks/normalization-block.ts';
import { type PolicyBlock, recacheFields } from './blocks/policy-block.ts';
import {
  BYPASS_CACHE_FIELDS,
  BYPASS_FIELDS,
  type BypassCacheFields,
  type BypassFields,
  CACHE_FIELDS,
  type CacheFields,
  EXPIRED_FIELDS,
  RENDER_FIELDS,
  type RenderFields,
} from './blocks/render-block.ts';
import type { Catalog } from './catalog.ts';
import { type FieldTable, isComplete } from './read-values.ts';

/** One level with everything above it. */
export interface MergedPolicy {
  readonly normalization: NormalizationPolicy;
  readonly tracking: StripPolicy;
  readonly render: RenderFields;
  /** null: nobody wrote one, it follows from the timeout. */
  readonly softTimeoutMs: number | null;
  readonly cache: CacheFields;
  readonly expired: ExpiredPolicy;
  readonly onError: RenderPolicy['onError'];
  readonly bypass: BypassFields;
  readonly bypassCache: BypassCacheFields;
  readonly bypassExpired: ExpiredPolicy;
  readonly recache: RecachePolicy;
  readonly bots: BotPolicy;
  readonly safeRequest: readonly string[];
  readonly safeResponse: readonly string[];
  readonly downstreamCache: DownstreamCache;
}

/** Share of the timeout after which an unready page is captured, unless a file says otherwise. */
const SOFT_TIMEOUT_SHARE = 0.8;

/**
 * Takes the block of layer 0 as it is.
 *
 * @throws when the built-in files leave a field out, which a test of the package would show
 */
export function startFromDefaults(block: PolicyBlock, catalog: Catalog): MergedPolicy {
  return {
    normalization: requireAll(block.normalization, NORMALIZATION_FIELDS),
    tracking: resolveTracking(EMPTY_STRIP_POLICY, block.tracking, 'default'),
    render: requireAll(block.render, RENDER_FIELDS),
    softTimeoutMs: block.softTimeoutMs ?? null,
    cache: requireAll(block.cache, CACHE_FIELDS),
    expired: requireAll(block.expired, EXPIRED_FIELDS),
    onError: block.onError ?? 'stale_then_origin',
    bypass: requireAll(block.bypass, BYPASS_FIELDS),
    bypassCache: requireAll(block.bypassCache, BYPASS_CACHE_FIELDS),
    bypassExpired: requireAll(block.bypassExpired, EXPIRED_FIELDS),
    recache: requireAll(block.recache, recacheFields(catalog)),
    bots: requireAll(block.bots, BOT_FIELDS),
    safeRequest: block.headers.safeRequest ?? [],
    safeResponse: block.headers.safeResponse ?? [],
    downstreamCache: block.downstreamCache ?? 'private',
  };
}

/** Lays one level's block over what it inherits. */
export function mergeBlock(
  inherited: MergedPolicy,
  block: PolicyBlock,
  level: PolicyLevel,
): MergedPolicy {
  const { headers } = block;
  return {
    normalization: { ...inherited.normalization, ...block.normalization },
    tracking: resolveTracking(inherited.tracking, block.tracking, level),
    render: { ...inherited.render, ...block.render },
    softTimeoutMs: block.softTimeoutMs ?? inherited.softTimeoutMs,
    cache: { ...inherited.cache, ...block.cache },
    expired: { ...inherited.expired, ...block.expired },
    onError: block.onError ?? inherited.onError,
    bypass: { ...inherited.bypass, ...block.bypass },
    bypassCache: { ...inherited.bypassCache, ...block.bypassCache },
    bypassExpired: { ...inherited.bypassExpired, ...block.bypassExpired },
    recache: { ...inherited.recache, ...block.recache },
    bots: { ...inherited.bots, ...block.bots },
    safeRequest: appendNames(headers.safeRequest ?? inherited.safeRequest, headers.safeRequestAdd),
    safeResponse: appendNames(
      headers.safeResponse ?? inherited.safeResponse,
      headers.safeResponseAdd,
    ),
    downstreamCache: block.downstreamCache ?? inherited.downstreamCache,
  };
}

/** The policy a request reads. */
export function toEffective(merged: MergedPolicy): EffectivePolicy {
  return {
    normalization: merged.normalization,
    tracking: merged.tracking,
    render: {
      ...merged.render,
      softTimeoutMs: softTimeoutOf(merged),
      onError: merged.onError,
      cache: { ...merged.cache, expired: merged.expired },
    },
    bypass: {
      ...merged.bypass,
      cache: { ...merged.bypassCache, expired: merged.bypassExpired },
    },
    recache: merged.recache,
    bots: merged.bots,
    headers: {
      safeRequest: new Set(merged.safeRequest),
      safeResponse: new Set(merged.safeResponse),
    },
    downstreamCache: merged.downstreamCache,
  };
}

export function softTimeoutOf({ render, softTimeoutMs }: MergedPolicy): number {
  return softTimeoutMs ?? Math.round(render.timeoutMs * SOFT_TIMEOUT_SHARE);
}

function appendNames(names: readonly string[], added: readonly string[] = []): readonly string[] {
  return [...names, ...added];
}

function requireAll<T>(block: Partial<T>, table: FieldTable<T>): T {
  if (isComplete(block, table)) return block;
  const missing = Object.keys(table).filter((name) => !Object.hasOwn(block, name));
  throw new Error(`config/defaults leaves out ${missing.join(', ')}`);
}
