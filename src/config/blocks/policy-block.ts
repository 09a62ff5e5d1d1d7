// What one level says about policy, every field optional: absent is inherited. Blocks of several
// levels are merged by core rules only here and in merge-policy.

import type {
  BotPolicy,
  DownstreamCache,
  ExpiredPolicy,
  NormalizationPolicy,
  RecachePolicy,
  RenderPolicy,
} from '../../core/policy/policy.ts';
import type { TrackingBlock } from '../../core/tracking/resolve-tracking.ts';
import { type Catalog, expandAliases } from '../catalog.ts';
import { type ConfigNode, descend } from '../config-node.ts';
import {
  type FieldTable,
  readAt,
  readFields,
  readFlag,
  readTimeout,
  readWord,
} from '../read-values.ts';
import { readBotsBlock } from './bots-block.ts';
import { type HeaderBlock, readHeaderBlock } from './headers-block.ts';
import { readNormalizationBlock } from './normalization-block.ts';
import {
  type BypassCacheFields,
  type BypassFields,
  type CacheFields,
  type RenderFields,
  readBypassBlock,
  readBypassCacheBlock,
  readCacheBlock,
  readExpiredBlock,
  readRenderBlock,
} from './render-block.ts';
import { readTrackingBlock } from './tracking-block.ts';

export interface PolicyBlock {
  readonly normalization: Partial<NormalizationPolicy>;
  readonly tracking: TrackingBlock | undefined;
  readonly render: Partial<RenderFields>;
  readonly softTimeoutMs: number | undefined;
  readonly cache: Partial<CacheFields>;
  readonly expired: Partial<ExpiredPolicy>;
  readonly onError: RenderPolicy['onError'] | undefined;
  readonly bypass: Partial<BypassFields>;
  readonly bypassCache: Partial<BypassCacheFields>;
  readonly bypassExpired: Partial<ExpiredPolicy>;
  readonly recache: Partial<RecachePolicy>;
  readonly bots: Partial<BotPolicy>;
  readonly headers: HeaderBlock;
  readonly downstreamCache: DownstreamCache | undefined;
}

/** Reads the policy of one level; each mistake is reported once, however many rules inherit it. */
export function readPolicyBlock(node: ConfigNode, catalog: Catalog): PolicyBlock {
  const render = descend(node, 'render');
  return {
    normalization: readNormalizationBlock(descend(node, 'normalization')),
    tracking: readTrackingBlock(descend(node, 'tracking_params'), catalog),
    render: readRenderBlock(render),
    softTimeoutMs: readAt(render, 'soft_timeout', readTimeout),
    cache: readCacheBlock(descend(render, 'cache')),
    expired: readExpiredBlock(descend(render, 'cache.expired')),
    onError: readAt(node, 'on_render_error', readOnError),
    bypass: readBypassBlock(descend(node, 'bypass')),
    bypassCache: readBypassCacheBlock(descend(node, 'bypass.cache')),
    bypassExpired: readExpiredBlock(descend(node, 'bypass.cache.expired')),
    recache: readFields(descend(node, 'bothit_recache'), recacheFields(catalog)),
    bots: readBotsBlock(descend(node, 'bots')),
    headers: readHeaderBlock(descend(node, 'headers')),
    downstreamCache: readAt(node, 'downstream_cache', readWord('private', 'vary', 'origin')),
  };
}

function readOnError(node: ConfigNode): RenderPolicy['onError'] | undefined {
  // YAML reads an unquoted 503 as a number.
  if (node.value === 503) return '503';
  return readWord('stale_then_origin', '503')(node);
}

export function recacheFields(catalog: Catalog): FieldTable<RecachePolicy> {
  return {
    enabled: ['enabled', readFlag],
    intervalMs: ['interval', readTimeout],
    matchUserAgent: ['match_ua', (list) => expandAliases(list, catalog)],
  };
}
