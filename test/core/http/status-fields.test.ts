// Cache-Status and Proxy-Status as RFC 9211 and RFC 9209 spell them.
import { describe, expect, it } from 'vitest';
import { type CacheStatus, formatCacheStatus } from '../../../src/core/http/cache-status.ts';
import { answerForFailure, formatProxyStatus } from '../../../src/core/http/proxy-status.ts';
import type { FetchFailure } from '../../../src/pipeline/ports.ts';

describe('Cache-Status', () => {
  it.each<[CacheStatus, string]>([
    [
      { forward: null, ttlSeconds: 3214, key: 'cache:1:1:96ba2d5b7d32d005' },
      'edge-gateway; hit; ttl=3214; key="cache:1:1:96ba2d5b7d32d005"',
    ],
    [{ forward: null, ttlSeconds: -30 }, 'edge-gateway; hit; ttl=-30'],
    [
      { forward: 'uri-miss', stored: true, ttlSeconds: 3600, collapsed: true },
      'edge-gateway; fwd=uri-miss; ttl=3600; stored; collapsed',
    ],
    [
      { forward: 'bypass', stored: false, detail: 'method' },
      'edge-gateway; fwd=bypass; detail=method',
    ],
    [{ forward: 'stale', forwardStatus: 503 }, 'edge-gateway; fwd=stale; fwd-status=503'],
    [{ forward: null, ttlSeconds: 1.9 }, 'edge-gateway; hit; ttl=1'],
    [{ forward: 'miss', key: 'a"b\\c\r\nd: ä' }, 'edge-gateway; fwd=miss; key="a\\"b\\\\c??d: ?"'],
    [{ forward: 'miss', detail: 'two words' }, 'edge-gateway; fwd=miss; detail="two words"'],
    [{ forward: 'miss', detail: '' }, 'edge-gateway; fwd=miss; detail=""'],
  ])('%#: %j', (status, expected) => expect(formatCacheStatus(status)).toBe(expected));
});

describe('Proxy-Status', () => {
  it.each<[FetchFailure, number, string]>([
    ['no_renderer', 503, 'destination_unavailable'],
    ['renderer_full', 503, 'connection_limit_reached'],
    ['render_timeout', 503, 'http_response_timeout'],
    ['render_failed', 503, 'proxy_internal_error'],
    ['too_large', 502, 'http_response_body_size'],
    ['loop', 508, 'proxy_loop_detected'],
  ])('%s is %i %s', (reason, status, error) => {
    expect(answerForFailure(reason)).toEqual({ status, error });
    expect(formatProxyStatus(reason)).toBe(`edge-gateway; error=${error}; details="${reason}"`);
  });

  it.each<[FetchFailure, number]>([
    ['connection_refused', 502],
    ['connection_terminated', 502],
    ['http_protocol_error', 502],
    ['http_response_timeout', 504],
  ])('the origin’s own %s is %i, and says no more', (reason, status) => {
    expect(answerForFailure(reason)).toEqual({ status, error: reason });
    expect(formatProxyStatus(reason)).toBe(`edge-gateway; error=${reason}`);
  });
});
