// `render` and `bypass` of one level.
import type {
  BypassCachePolicy,
  BypassPolicy,
  CacheTimePolicy,
  ExpiredPolicy,
  RenderPolicy,
} from '../../core/policy/policy.ts';
import { type ConfigNode, entriesOf, reportError } from '../config-node.ts';
import {
  type FieldTable,
  readDuration,
  readFields,
  readFlag,
  readList,
  readNumber,
  readPattern,
  readText,
  readTimeout,
  readWord,
} from '../read-values.ts';
import { RESOURCE_TYPES } from '../schema/render.ts';
import { isAsciiValue } from './headers-block.ts';

export type RenderFields = Omit<RenderPolicy, 'cache' | 'onError' | 'softTimeoutMs'>;
export type CacheFields = Omit<CacheTimePolicy, 'expired'>;
export type BypassFields = Omit<BypassPolicy, 'cache'>;
export type BypassCacheFields = Omit<BypassCachePolicy, 'expired'>;

/** An extra wait longer than this would use up any timeout. */
const ADDITIONAL_WAIT_MS_MAX = 30_000;

export const RENDER_FIELDS: FieldTable<RenderFields> = {
  timeoutMs: ['timeout', readTimeout],
  waitFor: [
    'events.wait_for',
    readWord('DOMContentLoaded', 'load', 'networkIdle', 'networkAlmostIdle'),
  ],
  additionalWaitMs: ['events.additional_wait', readAdditionalWait],
  longPollAfterMs: ['events.long_poll_after', readDuration],
  selector: ['events.selector', (node) => readText(node) || null],
  blockedResourceTypes: ['blocked_resource_types', readList(readWord(...RESOURCE_TYPES))],
  blockedPatterns: ['blocked_patterns', readList((node) => readPattern(node)?.source)],
  stripScripts: ['strip_scripts', readFlag],
};

export const CACHE_FIELDS: FieldTable<CacheFields> = {
  ttlMs: ['ttl', readDuration],
  ttlMsByStatus: ['ttl_by_status', readTtlByStatus],
  statusCodes: ['status_codes', (node) => toSet(readList(readNumber)(node))],
  jitter: ['jitter', readNumber],
};

export const EXPIRED_FIELDS: FieldTable<ExpiredPolicy> = {
  strategy: ['strategy', readWord('serve_stale', 'delete')],
  staleTtlMs: ['stale_ttl', readDuration],
};

export const BYPASS_FIELDS: FieldTable<BypassFields> = {
  timeoutMs: ['timeout', readTimeout],
  userAgent: ['user_agent', readUserAgent],
  cookies: ['cache.cookies', readWord('pass', 'ignore')],
};

export const BYPASS_CACHE_FIELDS: FieldTable<BypassCacheFields> = {
  enabled: ['enabled', readFlag],
  ttlMs: ['ttl', readDuration],
  statusCodes: ['status_codes', (node) => toSet(readList(readNumber)(node))],
};

export function readRenderBlock(node: ConfigNode | undefined): Partial<RenderFields> {
  return readFields(node, RENDER_FIELDS);
}

export function readCacheBlock(node: ConfigNode | undefined): Partial<CacheFields> {
  return readFields(node, CACHE_FIELDS);
}

export function readExpiredBlock(node: ConfigNode | undefined): Partial<ExpiredPolicy> {
  return readFields(node, EXPIRED_FIELDS);
}

export function readBypassCacheBlock(node: ConfigNode | undefined): Partial<BypassCacheFields> {
  return readFields(node, BYPASS_CACHE_FIELDS);
}

export function readBypassBlock(node: ConfigNode | undefined): Partial<BypassFields> {
  return readFields(node, BYPASS_FIELDS);
}

function readAdditionalWait(node: ConfigNode): number | undefined {
  const waitMs = readDuration(node);
  if (waitMs === undefined || waitMs <= ADDITIONAL_WAIT_MS_MAX) return waitMs;
  reportError(
    node,
    'an additional wait of more than 30s',
    'use events.selector to wait for content',
  );
  return undefined;
}

/** An empty text is explicit: the client's own passes through. */
function readUserAgent(node: ConfigNode): string | null | undefined {
  const text = readText(node);
  if (text === undefined) return undefined;
  if (text === '') return null;
  if (isAsciiValue(text)) return text;
  reportError(node, 'a User-Agent with characters no header may have', 'use printable ASCII');
  return undefined;
}

/** `404: 5m` or `4xx: 5m`; a class is kept as its hundred. */
function readTtlByStatus(node: ConfigNode): ReadonlyMap<number, number> {
  const times = new Map<number, number>();
  for (const [key, child] of entriesOf(node)) {
    const status = /^[1-5]xx$/.test(key) ? Number(key[0]) : Number(key);
    if (!/^(?:[1-5]xx|[1-5]\d\d)$/.test(key)) {
      reportError(child, `"${key}" is no status code`, 'write for example 404 or 4xx');
      continue;
    }
    const ttlMs = readDuration(child);
    if (ttlMs !== undefined) times.set(status, ttlMs);
  }
  return times;
}

function toSet(codes: readonly number[] | undefined): ReadonlySet<number> | undefined {
  return codes === undefined ? undefined : new Set(codes);
}
