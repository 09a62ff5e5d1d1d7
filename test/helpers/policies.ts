// Policies for tests of the pure core: neutral defaults, changed only where a test says so.
import { type Pattern, parsePattern } from '../../src/core/pattern/parse-pattern.ts';
import type {
  Dimension,
  EffectivePolicy,
  HostPolicy,
  NormalizationPolicy,
  PolicySet,
  Rule,
  StripPolicy,
} from '../../src/core/policy/policy.ts';
import { sortRules } from '../../src/core/routing/sort-rules.ts';
import { EMPTY_STRIP_POLICY, resolveTracking } from '../../src/core/tracking/resolve-tracking.ts';
import { encodePathPattern } from '../../src/core/url/encode-path.ts';

const BUILT_IN_PARAMS =
  'utm_source utm_content utm_medium utm_campaign utm_term gclid fbclid msclkid _ga _gl mc_cid mc_eid _ke ref referrer'.split(
    ' ',
  );

/** Parses a pattern a test wrote itself; throws when the test is wrong. */
export function pattern(source: string): Pattern {
  const parsed = parsePattern(source);
  if (!parsed.ok) throw new Error(`${source}: ${parsed.error.message}`);
  return parsed.value;
}

export const DEFAULT_TRACKING: StripPolicy = resolveTracking(
  EMPTY_STRIP_POLICY,
  { params: BUILT_IN_PARAMS.map(pattern) },
  'default',
);

export const NEUTRAL_NORMALIZATION: NormalizationPolicy = {
  sortQuery: true,
  emptyValues: 'bare',
  plus: 'space',
  encoding: 'canonical',
  collapseSlashes: true,
  trailingSlash: 'preserve',
  defaultDocuments: [],
  defaultValues: new Map(),
  lowercasePath: false,
  www: 'keep',
  signedUrls: 'bypass',
  signedParams: [],
  canonicalRedirect: 'off',
  localeRedirect: null,
  noVarySearch: 'off',
};

export function effectivePolicy(
  normalization: Partial<NormalizationPolicy> = {},
  tracking: StripPolicy = DEFAULT_TRACKING,
): EffectivePolicy {
  return {
    normalization: { ...NEUTRAL_NORMALIZATION, ...normalization },
    tracking,
    render: {
      timeoutMs: 30_000,
      softTimeoutMs: 15_000,
      waitFor: 'networkAlmostIdle',
      additionalWaitMs: 0,
      longPollAfterMs: 10_000,
      selector: null,
      blockedResourceTypes: [],
      blockedPatterns: [],
      stripScripts: true,
      cache: {
        ttlMs: 3_600_000,
        ttlMsByStatus: new Map(),
        statusCodes: new Set([200, 301, 302, 307, 308, 404, 410]),
        jitter: 0,
        expired: { strategy: 'serve_stale', staleTtlMs: 86_400_000 },
      },
      onError: 'stale_then_origin',
    },
    bypass: {
      timeoutMs: 30_000,
      userAgent: null,
      cookies: 'pass',
      cache: {
        enabled: false,
        ttlMs: 1_800_000,
        statusCodes: new Set([200]),
        expired: { strategy: 'serve_stale', staleTtlMs: 86_400_000 },
      },
    },
    recache: { enabled: false, intervalMs: 86_400_000, matchUserAgent: [] },
    headers: { safeRequest: new Set(), safeResponse: new Set(['content-type', 'location']) },
    bots: { verify: true, forged: 'bypass', previewWaitMs: 3_000 },
    downstreamCache: 'private',
  };
}

export function dimension(changes: Partial<Dimension> & { readonly name: string }): Dimension {
  return {
    id: 1,
    action: 'render',
    width: 1280,
    height: 800,
    renderUserAgent: 'edge-gateway-test',
    locale: null,
    matchUserAgent: [],
    ...changes,
  };
}

export const BYPASS = dimension({ id: 0, name: 'bypass', action: 'bypass' });
export const DESKTOP = dimension({ name: 'desktop', matchUserAgent: [pattern('*Googlebot*')] });

export function hostPolicy(changes: Partial<HostPolicy> = {}): HostPolicy {
  return {
    id: 1,
    domain: 'example.com',
    domains: ['example.com'],
    enabled: true,
    origins: [{ url: 'http://127.0.0.1:3000' }],
    originHostHeader: null,
    scheme: 'https',
    renderKey: null,
    dimensions: [BYPASS, DESKTOP],
    unmatched: BYPASS,
    policy: effectivePolicy(),
    ...changes,
    rules: sortRules(changes.rules ?? []),
  };
}

export function rule(match: string, changes: Partial<Rule> = {}): Rule {
  return {
    id: match,
    pattern: pattern(encodePathPattern(match)),
    query: [],
    methods: null,
    action: null,
    status: null,
    dimension: null,
    priority: 0,
    order: 0,
    policy: effectivePolicy(),
    ...changes,
  };
}

export function policySet(...hosts: readonly HostPolicy[]): PolicySet {
  return {
    limits: { urlBytesMax: 8_192, paramsMax: 1_000 },
    global: effectivePolicy(),
    hosts,
  };
}
