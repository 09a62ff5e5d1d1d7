// Default → global → host → rule, as a table: what each level writes and what a request gets.
import { expect, test } from 'vitest';
import type { EffectivePolicy } from '../../src/core/policy/policy.ts';
import { loadValid, onlyHost } from './helpers.ts';

interface MergeCase {
  readonly name: string;
  /** One YAML block for each level, in flow style. */
  readonly global?: string;
  readonly host?: string;
  readonly rule?: string;
  readonly read: (policy: EffectivePolicy) => unknown;
  readonly expected: unknown;
}

const ttl = ({ render }: EffectivePolicy): number => render.cache.ttlMs;
const codes = ({ render }: EffectivePolicy): readonly number[] => [...render.cache.statusCodes];
const expired = ({ render }: EffectivePolicy): unknown => render.cache.expired;
const safeRequest = ({ headers }: EffectivePolicy): readonly string[] => [...headers.safeRequest];
const isStripped =
  (name: string) =>
  (policy: EffectivePolicy): boolean =>
    policy.tracking.strip &&
    (policy.tracking.matcher.find(name) !== undefined) === (policy.tracking.mode === 'strip');

const CASES: readonly MergeCase[] = [
  { name: 'nobody writes: the default', read: ttl, expected: 3_600_000 },
  {
    name: 'global wins over the default',
    global: 'render: { cache: { ttl: 5m } }',
    read: ttl,
    expected: 300_000,
  },
  {
    name: 'the deepest scalar wins',
    global: 'render: { cache: { ttl: 5m } }',
    host: 'render: { cache: { ttl: 6m } }',
    rule: 'render: { cache: { ttl: 7m } }',
    read: ttl,
    expected: 420_000,
  },
  {
    name: '0 is explicit',
    host: 'render: { cache: { ttl: 6m } }',
    rule: 'render: { cache: { ttl: 0 } }',
    read: ttl,
    expected: 0,
  },
  {
    name: 'false is explicit',
    host: 'render: { strip_scripts: true }',
    rule: 'render: { strip_scripts: false }',
    read: ({ render }) => render.stripScripts,
    expected: false,
  },
  {
    name: 'lists are replaced',
    host: 'render: { cache: { status_codes: [200] } }',
    read: codes,
    expected: [200],
  },
  {
    name: 'also by an empty list',
    host: 'render: { cache: { status_codes: [] } }',
    read: codes,
    expected: [],
  },
  {
    name: 'blocked patterns are replaced',
    global: 'render: { blocked_patterns: [a, b] }',
    rule: 'render: { blocked_patterns: [] }',
    read: ({ render }) => render.blockedPatterns,
    expected: [],
  },
  {
    name: 'expired is merged field by field',
    global: 'render: { cache: { expired: { strategy: serve_stale, stale_ttl: 2h } } }',
    host: 'render: { cache: { expired: { strategy: delete } } }',
    rule: 'render: { cache: { expired: { strategy: serve_stale } } }',
    read: expired,
    expected: { strategy: 'serve_stale', staleTtlMs: 7_200_000 },
  },
  {
    name: 'events are merged field by field',
    host: 'render: { events: { wait_for: load, additional_wait: 1s } }',
    rule: 'render: { events: { selector: "#a" } }',
    read: ({ render }) => [render.waitFor, render.additionalWaitMs, render.selector],
    expected: ['load', 1_000, '#a'],
  },
  {
    name: 'so is what long polls are waited for',
    host: 'render: { events: { wait_for: load } }',
    rule: 'render: { events: { long_poll_after: 0 } }',
    read: ({ render }) => [render.waitFor, render.longPollAfterMs],
    expected: ['load', 0],
  },
  {
    name: 'an empty selector is explicit',
    host: 'render: { events: { selector: "#a" } }',
    rule: 'render: { events: { selector: "" } }',
    read: ({ render }) => render.selector,
    expected: null,
  },
  {
    name: 'the soft timeout follows the timeout',
    host: 'render: { timeout: 10s }',
    read: ({ render }) => render.softTimeoutMs,
    expected: 8_000,
  },
  {
    name: 'a written soft timeout is inherited',
    global: 'render: { soft_timeout: 5s }',
    host: 'render: { timeout: 10s }',
    read: ({ render }) => render.softTimeoutMs,
    expected: 5_000,
  },
  {
    name: 'ttl by status is replaced as a whole',
    global: 'render: { cache: { ttl_by_status: { 404: 1m, 5xx: 1s } } }',
    rule: 'render: { cache: { ttl_by_status: { 4xx: 2m } } }',
    read: ({ render }) => [...render.cache.ttlMsByStatus],
    expected: [[4, 120_000]],
  },
  {
    name: 'safe headers: replace, then append at each level',
    global: 'headers: { safe_request: [A, B] }',
    host: 'headers: { safe_request_add: [C, a] }',
    rule: 'headers: { safe_request_add: [D] }',
    read: safeRequest,
    expected: ['a', 'b', 'c', 'd'],
  },
  {
    name: 'safe headers: replaced below an addition',
    global: 'headers: { safe_request_add: [A] }',
    host: 'headers: { safe_request: [B], safe_request_add: [C] }',
    read: safeRequest,
    expected: ['b', 'c'],
  },
  {
    name: 'safe headers: emptied',
    global: 'headers: { safe_request: [A] }',
    rule: 'headers: { safe_request: [] }',
    read: safeRequest,
    expected: [],
  },
  {
    name: 'bypass is merged field by field',
    global: 'bypass: { user_agent: G }',
    host: 'bypass: { timeout: 5s, cache: { cookies: ignore } }',
    read: ({ bypass: one }) => [one.timeoutMs, one.userAgent, one.cookies],
    expected: [5_000, 'G', 'ignore'],
  },
  {
    name: 'bypass.cache is merged field by field',
    global: 'bypass: { cache: { enabled: true, expired: { strategy: delete } } }',
    host: 'bypass: { cache: { ttl: 5m } }',
    rule: 'bypass: { cache: { status_codes: [], expired: { stale_ttl: 1m } } }',
    read: ({ bypass: { cache } }) => cache,
    expected: {
      enabled: true,
      ttlMs: 300_000,
      statusCodes: new Set(),
      expired: { strategy: 'delete', staleTtlMs: 60_000 },
    },
  },
  {
    name: 'bothit_recache is merged field by field',
    global: 'bothit_recache: { enabled: true, interval: 6h }',
    host: 'bothit_recache: { interval: 12h, match_ua: [] }',
    rule: 'bothit_recache: { enabled: false }',
    read: ({ recache }) => recache,
    expected: { enabled: false, intervalMs: 43_200_000, matchUserAgent: [] },
  },
  {
    name: 'an empty User-Agent means the client’s own again',
    global: 'bypass: { user_agent: G }',
    rule: 'bypass: { user_agent: "" }',
    read: ({ bypass }) => bypass.userAgent,
    expected: null,
  },
  {
    name: 'normalization is merged field by field',
    global: 'normalization: { plus: literal, trailing_slash: add }',
    host: 'normalization: { trailing_slash: preserve, host_aliases: { www: strip } }',
    rule: 'normalization: { sort_query: false, canonical_redirect: 308 }',
    read: ({ normalization: one }) => [
      one.plus,
      one.trailingSlash,
      one.www,
      one.sortQuery,
      one.canonicalRedirect,
    ],
    expected: ['literal', 'preserve', 'strip', false, 308],
  },
  {
    name: 'a locale redirect is switched off again',
    host: 'normalization: { locale_redirect: { default: en, locales: [en, zh] } }',
    rule: 'normalization: { locale_redirect: off }',
    read: ({ normalization }) => normalization.localeRedirect,
    expected: null,
  },
  {
    name: 'on_render_error as a number',
    rule: 'on_render_error: 503',
    read: ({ render }) => render.onError,
    expected: '503',
  },
  {
    name: 'downstream_cache',
    global: 'downstream_cache: vary',
    host: 'downstream_cache: origin',
    read: ({ downstreamCache }) => downstreamCache,
    expected: 'origin',
  },
  { name: 'tracking: the built-in list', read: isStripped('GCLID'), expected: true },
  {
    name: 'tracking: params discards',
    host: 'tracking_params: { params: [x] }',
    read: isStripped('gclid'),
    expected: false,
  },
  {
    name: 'tracking: params_add appends',
    rule: 'tracking_params: { params_add: [x] }',
    read: isStripped('gclid'),
    expected: true,
  },
  {
    name: 'tracking: params and params_add at one level',
    host: 'tracking_params: { params: [x], params_add: [y] }',
    read: isStripped('y'),
    expected: true,
  },
  {
    name: 'tracking: presets append',
    host: 'tracking_params: { presets: [click_ids] }',
    read: isStripped('yclid'),
    expected: true,
  },
  {
    name: 'tracking: params_remove',
    host: 'tracking_params: { params_remove: [REF] }',
    read: isStripped('ref'),
    expected: false,
  },
  {
    name: 'tracking: params_keep',
    host: 'tracking_params: { params_keep: [q] }',
    read: isStripped('anything'),
    expected: true,
  },
  {
    name: 'tracking: strip false',
    host: 'tracking_params: { strip: false }',
    read: isStripped('gclid'),
    expected: false,
  },
  {
    name: 'tracking: strip true again, with the inherited list',
    host: 'tracking_params: { strip: false, params_add: [x] }',
    rule: 'tracking_params: { strip: true }',
    read: isStripped('x'),
    expected: true,
  },
];

test.each(CASES)('$name', async ({ global = '', host = '', rule = '', read, expected }) => {
  const config = await loadValid({
    'edge-gateway.yaml': global.startsWith('render:')
      ? `${global}\n`
      : `render: { engine: origin }\n${global}\n`,
    'hosts.yaml':
      `hosts:\n  - id: 1\n    domain: a.example\n    ${host}\n` +
      `    url_rules:\n      - match: /r\n        ${rule}\n`,
  });
  const [found] = onlyHost(config).rules;
  if (found === undefined) throw new Error('no rule');
  expect(read(found.policy)).toEqual(expected);
});
