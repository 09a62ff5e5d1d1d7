// Rule and path depend on each other: the rule is chosen on the path, and the rule's options may
// change the path into one that another rule is for. This goes on until rule and URL agree, so that
// normalizing a normalized URL changes nothing, whatever the configuration says.
import { LIMITS } from '../limits.ts';
import type { EffectivePolicy, HostPolicy, Rule, UrlLimits } from '../policy/policy.ts';
import { ok, type Result } from '../result.ts';
import { matchRule } from '../routing/match-rule.ts';
import { resolvePath } from '../url/normalize-path.ts';
import { applyPolicy, type NormalizedUrl, type ParsedUrl } from '../url/normalize-url.ts';
import type { Trace } from '../url/trace.ts';
import type { UrlErrorKind } from '../url/url-error.ts';

export interface SettleContext {
  readonly host: HostPolicy | null;
  readonly global: EffectivePolicy;
  readonly limits: UrlLimits;
  readonly method: string;
  readonly trace: Trace | null;
}

export interface Settled {
  readonly rule: Rule | null;
  readonly policy: EffectivePolicy;
  readonly normalized: NormalizedUrl;
}

/** Chooses the rule and applies its policy until both agree. */
export function settleRule(
  parsed: ParsedUrl,
  context: SettleContext,
): Result<Settled, UrlErrorKind> {
  const rounds: Settled[] = [];
  let current = parsed;
  while (rounds.length < LIMITS.agreementRoundsMax) {
    const round = applyRule(current, context);
    if (!round.ok) return round;
    const settled = withEarlierRounds(round.value, rounds);
    // A status rule met on the way answers: a page can't be reached past it by another spelling.
    if (settled.rule?.action === 'status') return ok(settled);
    const next = nextInput(current, settled.normalized);
    if (isSettled(current, next, settled, context)) return ok(settled);
    const again = rounds.findIndex((earlier) => earlier.normalized.url === settled.normalized.url);
    rounds.push(settled);
    if (again !== -1) return ok(pickFromCycle(rounds.slice(again)));
    current = next;
  }
  return ok(pickFromCycle(rounds));
}

function applyRule(parsed: ParsedUrl, context: SettleContext): Result<Settled, UrlErrorKind> {
  const rule = findRule(parsed, context);
  const policy = rule?.policy ?? context.host?.policy ?? context.global;
  const normalized = applyPolicy(parsed, policy, context.limits, context.trace);
  return normalized.ok ? ok({ rule, policy, normalized: normalized.value }) : normalized;
}

function findRule(parsed: ParsedUrl, context: SettleContext): Rule | null {
  if (context.host === null) return null;
  return matchRule(context.host.rules, {
    path: parsed.rulePath,
    query: parsed.query,
    method: context.method,
    normalization: context.host.policy.normalization,
  });
}

/** What a second normalization would start from. */
function nextInput(parsed: ParsedUrl, { host, path, query }: NormalizedUrl): ParsedUrl {
  return { ...parsed, host, encodedPath: path, rulePath: resolvePath(path), query };
}

/** One policy is idempotent, so the same rule a second time means the same URL. */
function isSettled(
  current: ParsedUrl,
  next: ParsedUrl,
  settled: Settled,
  context: SettleContext,
): boolean {
  if (context.host === null || context.host.rules.length === 0) return true;
  if (next.rulePath === current.rulePath && next.query === current.query) return true;
  return findRule(next, context) === settled.rule;
}

function withEarlierRounds(settled: Settled, rounds: readonly Settled[]): Settled {
  const earlier = rounds.at(-1)?.normalized.stripped ?? [];
  if (earlier.length === 0) return settled;
  const stripped = [...earlier, ...settled.normalized.stripped];
  return { ...settled, normalized: { ...settled.normalized, stripped } };
}

/** Rules that send a URL round in a circle: every member of the circle gets the same answer. */
function pickFromCycle(rounds: readonly Settled[]): Settled {
  return rounds.reduce((least, round) =>
    round.normalized.url < least.normalized.url ? round : least,
  );
}
