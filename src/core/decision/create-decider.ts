// The one decision function. Everything that can be indexed is indexed when a configuration is
// compiled; a request only looks things up.
import type { HostPolicy, PolicySet } from '../policy/policy.ts';
import { ok, type Result } from '../result.ts';
import {
  type DimensionIndex,
  type DimensionMatch,
  indexDimensions,
} from '../routing/match-dimension.ts';
import { indexHosts } from '../routing/match-host.ts';
import { normalizePort } from '../url/normalize-authority.ts';
import { type ParsedUrl, parseUrl } from '../url/normalize-url.ts';
import { parseQuery } from '../url/parse-query.ts';
import { findSignature } from '../url/signed-url.ts';
import type { Trace } from '../url/trace.ts';
import type { UrlErrorKind } from '../url/url-error.ts';
import { findRedirect } from './canonical-redirect.ts';
import type { Decision, DecisionRequest, KeyedDecision, RefusedDecision } from './decision.ts';
import type { Located } from './located.ts';
import { type PlanInput, planClient } from './plan-action.ts';
import { settleRule } from './settle-rule.ts';

export interface Decider {
  /** @param trace collects the steps for `explain`; null while serving */
  readonly decide: (request: DecisionRequest, trace: Trace | null) => Decision;
  /** @param name host name or address in normal form, without port */
  readonly findHost: (name: string) => HostPolicy | null;
  /** How a client is classified on a host, by its User-Agent. */
  readonly classify: (host: HostPolicy, userAgent: string) => DimensionMatch;
}

const NO_DIMENSION: DimensionMatch = { dimension: 'block', matchedBy: null };

/**
 * Compiles the decision function of one configuration.
 *
 * @param hashText XXHash64, seed 0, as 16 lower-case hex digits
 */
export function createDecider(policies: PolicySet, hashText: (text: string) => string): Decider {
  const hosts = indexHosts(policies.hosts.filter((host) => host.enabled));
  const dimensions = new Map<HostPolicy, DimensionIndex>(
    policies.hosts.map((host) => [host, indexDimensions(host)]),
  );
  const classify = (host: HostPolicy, userAgent: string): DimensionMatch =>
    dimensions.get(host)?.find(userAgent) ?? NO_DIMENSION;

  const settle = (
    parsed: ParsedUrl,
    method: string,
    trace: Trace | null,
  ): Result<Located, UrlErrorKind> => {
    const host = hosts.find(parsed.host);
    const located = host === null ? parsed : withPublicScheme(parsed, host);
    const settled = settleRule(located, {
      host,
      global: policies.global,
      limits: policies.limits,
      method,
      trace,
    });
    return settled.ok ? ok({ host, parsed: located, settled: settled.value }) : settled;
  };

  const decide = (request: DecisionRequest, trace: Trace | null): Decision => {
    const parsed = parseUrl(request.url, policies.limits, trace);
    if (!parsed.ok) return refuse(request, parsed.error, trace);
    const located = settle(parsed.value, request.method, trace);
    if (!located.ok) return refuse(request, located.error, trace);
    const { host, settled } = located.value;
    const match = host === null ? NO_DIMENSION : classify(host, request.userAgent);
    const { policy, rule, normalized } = settled;
    const options = policy.normalization;
    const isSigned =
      located.value.parsed.query !== '' &&
      findSignature(parseQuery(located.value.parsed.query, options), options) !== null;
    const input: PlanInput = {
      host,
      match,
      rule,
      path: normalized.path,
      method: request.method,
      isSigned,
      hasAuthorization: request.hasAuthorization,
      redirect: findRedirect(located.value, (url) => resettle(url, request.method)),
    };
    const { verify, forged } = policy.bots;
    const judge = () => request.judgeBot?.(request.userAgent, verify) ?? null;
    return {
      ...planClient(input, forged, judge),
      input: request.url,
      error: null,
      host,
      normalized: normalized.url,
      path: normalized.path,
      hash: hashText(normalized.url),
      rule,
      policy,
      stripped: normalized.stripped,
      steps: trace ?? [],
    } satisfies KeyedDecision;
  };

  const resettle = (url: string, method: string): Located | null => {
    const parsed = parseUrl(url, policies.limits, null);
    if (!parsed.ok) return null;
    const located = settle(parsed.value, method, null);
    return located.ok ? located.value : null;
  };

  return { decide, findHost: hosts.find, classify };
}

/** The public scheme is the host's: a key must not depend on where TLS ends. */
function withPublicScheme(parsed: ParsedUrl, host: HostPolicy): ParsedUrl {
  if (parsed.scheme === host.scheme) return parsed;
  const port = normalizePort(parsed.port, host.scheme);
  return { ...parsed, scheme: host.scheme, port: port.ok ? port.value : parsed.port };
}

function refuse(
  request: DecisionRequest,
  error: UrlErrorKind,
  trace: Trace | null,
): RefusedDecision {
  return {
    input: request.url,
    error,
    normalized: null,
    host: null,
    dimension: null,
    matchedBy: null,
    bot: null,
    action: 'status',
    reason: 'invalid_url',
    status: { code: 400, reason: error, headers: [] },
    steps: trace ?? [],
  };
}
