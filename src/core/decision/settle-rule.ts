// Rule and path depend on each other: the rule is chosen on the path, and the rule's options may
// change the path into one that another rule is for. This goes on until rule and URL agree, so that
// normalizing a normalized URL changes nothing, whatever the configuration says.
import type { EffectivePolicy, HostPolicy, Rule, UrlLimits } from '../policy/policy.ts';
import { ok, type Result } from '../result.ts';
import type { RuleIndex } from '../routing/index-rules.ts';
import { matchRule } from '../routing/match-rule.ts';
import { resolvePath } from '../url/normalize-path.ts';
import {
  applyPolicy,
  type NormalizeContext,
  type NormalizedUrl,
  type ParsedUrl,
} from '../url/normalize-url.ts';
import { parseQuery, type QueryPair } from '../url/parse-query.ts';
import type { UrlErrorKind } from '../url/url-error.ts';

export interface SettleContext extends NormalizeContext {
  readonly host: HostPolicy | null;
  /** Of the host; null: it has none. */
  readonly rules: RuleIndex | null;
  readonly global: EffectivePolicy;
  readonly method: string;
}

export interface Settled {
  readonly rule: Rule | null;
  readonly policy: EffectivePolicy;
  readonly normalized: NormalizedUrl;
  /** Of the query as it came. */
  readonly pairs: readonly QueryPair[];
}

/**
 * Chooses the rule and applies its policy until both agree. A status rule met on the way answers,
 * so that a page can't be reached past it by another spelling; the URL is the agreed one all the
 * same.
 */
export function settleRule(
  parsed: ParsedUrl,
  context: SettleContext,
): Result<Settled, UrlErrorKind> {
  if (context.rules === null) return applyRule(parsed, context);
  const rounds: Settled[] = [];
  const seen = new Map<string, number>();
  let statusRule: Rule | null = null;
  let current = parsed;
  while (rounds.length < roundsMax(context.limits)) {
    const round = applyRule(current, context);
    if (!round.ok) return round;
    rounds.push(round.value);
    statusRule ??= findStatusRule(round.value.rule, current, context);
    const next = nextInput(current, round.value.normalized);
    if (isSettled(current, next, round.value, context)) {
      return ok(conclude(round.value, statusRule, { parsed, rounds }));
    }
    const again = seen.get(round.value.normalized.url);
    if (again !== undefined) {
      const member = pickFromCycle(rounds.slice(again + 1));
      return ok(conclude(member, statusRule, { parsed, rounds }));
    }
    seen.set(round.value.normalized.url, rounds.length - 1);
    current = next;
  }
  return ok(conclude(pickFromCycle(rounds), statusRule, { parsed, rounds }));
}

interface Course {
  readonly parsed: ParsedUrl;
  readonly rounds: readonly Settled[];
}

/**
 * Out of reach: a round that neither settles nor closes a circle takes bytes off the URL, or gives
 * it a slash before one that does.
 */
function roundsMax({ urlBytesMax }: UrlLimits): number {
  return 2 * urlBytesMax;
}

/** What was stripped in earlier rounds is missing from the last one. */
function conclude(settled: Settled, statusRule: Rule | null, { parsed, rounds }: Course): Settled {
  const rule = statusRule ?? settled.rule;
  if (rounds.length === 1) return rule === settled.rule ? settled : { ...settled, rule };
  const stripped = rounds.flatMap((round) => round.normalized.stripped);
  const pairs = parseQuery(parsed.query, settled.policy.normalization);
  return { ...settled, rule, pairs, normalized: { ...settled.normalized, stripped } };
}

function applyRule(parsed: ParsedUrl, context: SettleContext): Result<Settled, UrlErrorKind> {
  const rule = findRule(parsed, context);
  const policy = rule?.policy ?? context.host?.policy ?? context.global;
  const pairs = parseQuery(parsed.query, policy.normalization);
  const normalized = applyPolicy({ parsed, pairs }, policy, context);
  return normalized.ok ? ok({ rule, policy, normalized: normalized.value, pairs }) : normalized;
}

function findRule(parsed: ParsedUrl, context: SettleContext, path = parsed.rulePath): Rule | null {
  if (context.host === null || context.rules === null) return null;
  return matchRule(context.rules, {
    path,
    query: parsed.query,
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
  if (!parsed.encodedPath.includes('//')) return null;
  const resolved = resolvePath(parsed.encodedPath, false);
  const others = [resolved, resolvePath(resolved)].map((path) => findRule(parsed, context, path));
  return others.find((other) => other?.action === 'status') ?? null;
}

/** What a second normalization would start from. */
function nextInput(parsed: ParsedUrl, { host, path, query }: NormalizedUrl): ParsedUrl {
  const { scheme, port } = parsed;
  return { scheme, host, port, encodedPath: path, rulePath: resolvePath(path), query };
}

/** One policy is idempotent, so the same rule a second time means the same URL. */
function isSettled(
  current: ParsedUrl,
  next: ParsedUrl,
  settled: Settled,
  context: SettleContext,
): boolean {
  if (context.rules === null) return true;
  if (next.rulePath === current.rulePath && next.query === current.query) return true;
  return findRule(next, context) === settled.rule;
}

/** Rules that send a URL round in a circle: every member of the circle gets the same answer. */
function pickFromCycle(rounds: readonly Settled[]): Settled {
  return rounds.reduce((least, round) =>
    round.normalized.url < least.normalized.url ? round : least,
  );
}
