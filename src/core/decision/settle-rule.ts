// Rule and path depend on each other: the rule is chosen on the path, and the rule's options may
// change the path into one that another rule is for. This goes on until rule and URL agree, so that
// normalizing a normalized URL changes nothing, whatever the configuration says.
import type { EffectivePolicy, HostPolicy, Rule, UrlLimits } from '../policy/policy.ts';
import { ok, type Result } from '../result.ts';
import type { RuleIndex } from '../routing/index-rules.ts';
import { matchRule, NO_RULE, type RuleMatch } from '../routing/match-rule.ts';
import { resolvePath } from '../url/normalize-path.ts';
import { applyPolicy, type NormalizeContext, type NormalizedUrl } from '../url/normalize-url.ts';
import { makeSite } from '../url/read-site.ts';
import type { ParsedUrl, Place, UrlReader } from '../url/read-url.ts';
import type { UrlErrorKind } from '../url/url-error.ts';

export interface SettleContext extends NormalizeContext {
  readonly host: HostPolicy | null;
  /** Of the host; null: it has none. */
  readonly rules: RuleIndex | null;
  readonly global: EffectivePolicy;
  readonly method: string;
  readonly reader: Pick<UrlReader, 'readParts'>;
}

export interface SettledRule {
  readonly rule: Rule | null;
  readonly policy: EffectivePolicy;
  readonly normalized: NormalizedUrl;
  /** Whether another query could have led to another rule. */
  readonly readsQuery: boolean;
}

/**
 * Chooses the rule and applies its policy until both agree. A status rule met on the way answers,
 * so that a page can't be reached past it by another spelling; the URL is the agreed one all the
 * same.
 */
export function settleRule(
  parsed: ParsedUrl,
  context: SettleContext,
): Result<SettledRule, UrlErrorKind> {
  const first = applyRule(parsed, context);
  if (!first.ok || context.rules === null) return first;
  const { rule } = first.value;
  const statusRule = findStatusRule(rule, parsed, context);
  if (!isSettled(parsed, first.value, context)) {
    return settleAgain(parsed, { statusRule, rounds: [first.value] }, context);
  }
  return statusRule === null || statusRule === rule
    ? first
    : ok({ ...first.value, rule: statusRule });
}

/** What became of a URL so far. */
interface Course {
  readonly statusRule: Rule | null;
  readonly rounds: readonly [SettledRule, ...SettledRule[]];
}

/** Every round but the first, which nearly always is the last. */
function settleAgain(
  parsed: ParsedUrl,
  course: Course,
  context: SettleContext,
): Result<SettledRule, UrlErrorKind> {
  const rounds: SettledRule[] = [...course.rounds];
  let [last] = course.rounds;
  let { statusRule } = course;
  const seen = new Map([[last.normalized.url, 0]]);
  let current = parsed;
  while (rounds.length < roundsMax(context.limits)) {
    const { path, query } = last.normalized;
    current = context.reader.readParts(placeAfter(current.place, last), path, query);
    const round = applyRule(current, context);
    if (!round.ok) return round;
    last = round.value;
    rounds.push(last);
    statusRule ??= findStatusRule(last.rule, current, context);
    if (isSettled(current, last, context)) return ok(conclude(last, statusRule, rounds));
    const again = seen.get(last.normalized.url);
    if (again !== undefined) {
      return ok(conclude(pickFromCycle(rounds.slice(again + 1)), statusRule, rounds));
    }
    seen.set(last.normalized.url, rounds.length - 1);
  }
  return ok(conclude(pickFromCycle(rounds), statusRule, rounds));
}

/**
 * Out of reach: a round that neither settles nor closes a circle takes bytes off the URL, or gives
 * it a slash before one that does.
 */
function roundsMax({ urlBytesMax }: UrlLimits): number {
  return 2 * urlBytesMax;
}

/** What was taken out in earlier rounds is missing from the last one. */
function conclude(
  settled: SettledRule,
  statusRule: Rule | null,
  rounds: readonly SettledRule[],
): SettledRule {
  const stripped = rounds.flatMap((round) => round.normalized.stripped);
  const dropped = rounds.flatMap((round) => round.normalized.dropped);
  const rule = statusRule ?? settled.rule;
  return { ...settled, rule, normalized: { ...settled.normalized, stripped, dropped } };
}

function applyRule(parsed: ParsedUrl, context: SettleContext): Result<SettledRule, UrlErrorKind> {
  const { rule, readsQuery } = findRule(parsed, context);
  const policy = rule?.policy ?? context.host?.policy ?? context.global;
  const normalized = applyPolicy(parsed, policy, context);
  return normalized.ok
    ? ok({ rule, policy, normalized: normalized.value, readsQuery })
    : normalized;
}

function findRule(parsed: ParsedUrl, context: SettleContext, path = parsed.rulePath): RuleMatch {
  if (context.host === null || context.rules === null) return NO_RULE;
  return matchRule(context.rules, {
    path,
    parsed,
    method: context.method,
    normalization: context.host.policy.normalization,
  });
}

/**
 * The rule itself, or one that answers another reading: as RFC 3986 does, without collapsing
 * slashes, and with the slashes collapsed last. A raw request reaches an origin that may read
 * `/admin//../page` as `/admin/page`.
 */
function findStatusRule(rule: Rule | null, parsed: ParsedUrl, context: SettleContext): Rule | null {
  if (rule?.action === 'status') return rule;
  // A path with two slashes in a row is never the one rules are chosen on.
  if (parsed.encodedPath === parsed.rulePath || !parsed.encodedPath.includes('//')) return null;
  const resolved = resolvePath(parsed.encodedPath, false);
  const others = [resolved, resolvePath(resolved)].map(
    (path) => findRule(parsed, context, path).rule,
  );
  return others.find((other) => other?.action === 'status') ?? null;
}

/** Of what a second normalization would start from. */
function placeAfter(place: Place, { normalized }: SettledRule): Place {
  const { scheme, host, port } = place.site;
  if (normalized.host === host) return place;
  return { ...place, site: makeSite(scheme, normalized.host, port) };
}

/**
 * Whether a second normalization would choose the same rule: one policy is idempotent, so that
 * means the same URL.
 */
function isSettled(current: ParsedUrl, settled: SettledRule, context: SettleContext): boolean {
  const { path, query } = settled.normalized;
  const isSameQuery = !settled.readsQuery || query === current.query;
  if (isSameQuery && path === current.rulePath) return true;
  const next = context.reader.readParts(current.place, path, query);
  return findRule(next, context).rule === settled.rule;
}

/** Rules that send a URL round in a circle: every member of the circle gets the same answer. */
function pickFromCycle(rounds: readonly SettledRule[]): SettledRule {
  return rounds.reduce((least, round) =>
    round.normalized.url < least.normalized.url ? round : least,
  );
}
