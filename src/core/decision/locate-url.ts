// From a URL to its host, its rule and its one spelling, before any plan is made.
import { indexLearners } from '../learned/index-learners.ts';
import type { LearnedTable } from '../learned/learned-rule.ts';
import { makeOnce } from '../make-once.ts';
import type { HostPolicy, PolicySet } from '../policy/policy.ts';
import { ok, type Result } from '../result.ts';
import { indexRules, type RuleIndex } from '../routing/index-rules.ts';
import { indexHosts } from '../routing/match-host.ts';
import { normalizePort } from '../url/normalize-authority.ts';
import { makeSite, readSite, type Site } from '../url/read-site.ts';
import { createUrlReader, type ParsedUrl, type Place } from '../url/read-url.ts';
import { recordStep, type Trace } from '../url/trace.ts';
import type { UrlErrorKind } from '../url/url-error.ts';
import { type SettledRule, settleRule } from './settle-rule.ts';

export interface Located {
  readonly host: HostPolicy | null;
  readonly parsed: ParsedUrl;
  readonly settled: SettledRule;
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
  const rulesOf = makeOnce((host: HostPolicy | null): RuleIndex | null =>
    host === null || host.rules.length === 0 ? null : indexRules(host.rules),
  );
  const learnedOn = indexLearners(policies.hosts, learned);
  const findPlace = (text: string, trace: Trace | null): Result<Place, UrlErrorKind> => {
    const read = readSite(text, trace);
    if (!read.ok) return read;
    const host = hosts.find(read.value.host);
    const site = host === null ? read.value : withPublicScheme(read.value, host);
    return ok({ site, siteRead: read.value, isAsWritten: text === site.prefix, host });
  };
  const reader = createUrlReader(limits, findPlace);
  return {
    findHost: hosts.find,
    locate: (url, method, trace) => {
      const read = reader.read(url, trace);
      if (!read.ok) return read;
      const parsed = read.value;
      const { host } = parsed.place;
      if (trace !== null) recordPublicScheme(parsed.place, trace);
      const rules = rulesOf(host);
      const findLearned = learnedOn(host);
      const context = { host, rules, global, limits, method, findLearned, trace, reader };
      const settled = settleRule(parsed, context);
      return settled.ok ? ok({ host, parsed, settled: settled.value }) : settled;
    },
  };
}

/** The public scheme is the host's: a key must not depend on where TLS ends. */
function withPublicScheme(site: Site, { scheme }: HostPolicy): Site {
  if (site.scheme === scheme) return site;
  const normalized = normalizePort(site.port, scheme);
  return makeSite(scheme, site.host, normalized.ok ? normalized.value : site.port);
}

function recordPublicScheme({ siteRead, site }: Place, trace: Trace): void {
  recordStep(trace, 'scheme', siteRead.scheme, site.scheme);
  recordStep(trace, 'port', writePort(siteRead.port), writePort(site.port));
}

function writePort(digits: string): string {
  return digits === '' ? '' : `:${digits}`;
}
