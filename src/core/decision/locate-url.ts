// From a URL to its host, its rule and its one spelling, before any plan is made.
import { indexLearners } from '../learned/index-learners.ts';
import type { LearnedTable } from '../learned/learned-rule.ts';
import type { HostPolicy, PolicySet } from '../policy/policy.ts';
import { ok, type Result } from '../result.ts';
import { indexRules, type RuleIndex } from '../routing/index-rules.ts';
import { indexHosts } from '../routing/match-host.ts';
import { normalizePort } from '../url/normalize-authority.ts';
import { type ParsedUrl, parseUrl } from '../url/normalize-url.ts';
import { recordStep, type Trace } from '../url/trace.ts';
import type { UrlErrorKind } from '../url/url-error.ts';
import { type Settled, settleRule } from './settle-rule.ts';

export interface Located {
  readonly host: HostPolicy | null;
  readonly parsed: ParsedUrl;
  readonly settled: Settled;
}

export interface Locator {
  readonly locate: (
    url: string,
    method: string,
    trace: Trace | null,
  ) => Result<Located, UrlErrorKind>;
  /** @param name host name or address in normal form, without port */
  readonly findHost: (name: string) => HostPolicy | null;
}

export function createLocator(policies: PolicySet, learned: () => LearnedTable): Locator {
  const { limits, global } = policies;
  const hosts = indexHosts(policies.hosts.filter((host) => host.enabled));
  const rulesOf = new Map<HostPolicy | null, RuleIndex>();
  for (const host of policies.hosts) {
    if (host.rules.length > 0) rulesOf.set(host, indexRules(host.rules));
  }
  const learnedOn = indexLearners(policies.hosts, learned);
  return {
    findHost: hosts.find,
    locate: (url, method, trace) => {
      const split = parseUrl(url, limits, trace);
      if (!split.ok) return split;
      const host = hosts.find(split.value.host);
      const parsed = host === null ? split.value : withPublicScheme(split.value, host, trace);
      const rules = rulesOf.get(host) ?? null;
      const findLearned = learnedOn(host);
      const context = { host, rules, global, limits, method, findLearned, trace };
      const settled = settleRule(parsed, context);
      return settled.ok ? ok({ host, parsed, settled: settled.value }) : settled;
    },
  };
}

/** The public scheme is the host's: a key must not depend on where TLS ends. */
function withPublicScheme(parsed: ParsedUrl, host: HostPolicy, trace: Trace | null): ParsedUrl {
  if (parsed.scheme === host.scheme) return parsed;
  const normalized = normalizePort(parsed.port, host.scheme);
  const port = normalized.ok ? normalized.value : parsed.port;
  recordStep(trace, 'scheme', parsed.scheme, host.scheme);
  recordStep(trace, 'port', writePort(parsed.port), writePort(port));
  return { ...parsed, scheme: host.scheme, port };
}

function writePort(digits: string): string {
  return digits === '' ? '' : `:${digits}`;
}
