// What may be asked to go, as the command and the admin API are given it: one way of naming pages,
// checked once for both.
import type { Decider } from '../../core/decision/create-decider.ts';
import { questionAbout } from '../../core/decision/decision.ts';
import { BYPASS_DIMENSION_ID, formatCacheKey } from '../../core/key/cache-key.ts';
import type { HostPolicy } from '../../core/policy/policy.ts';
import { parsePathPattern } from '../../core/purge/match-selector.ts';
import type { PurgeSelector } from '../../core/purge/purge-record.ts';
import { TAG } from '../../core/purge/tag.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { dimensionsOf } from '../../core/routing/dimensions-of.ts';
import { findNamedHost } from '../../core/routing/find-named-host.ts';
import type { UrlErrorKind } from '../../core/url/url-error.ts';

/** A host is a domain, or a host id as text. */
export type PurgeTarget =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'pattern'; readonly pattern: string; readonly host: string | null }
  | { readonly kind: 'tag'; readonly tag: string; readonly host: string | null }
  | { readonly kind: 'host'; readonly host: string }
  | { readonly kind: 'all' }
  /** Takes a soft purge back: its id. */
  | { readonly kind: 'undo'; readonly id: number };

export interface PurgeRequest {
  readonly target: PurgeTarget;
  /** Marks stale instead of deleting: served until it is refreshed. */
  readonly soft: boolean;
  /** Only counts. */
  readonly dryRun: boolean;
}

/** The ways to name pages, each null where it was not used. */
export interface PurgeFields {
  readonly url: string | null;
  readonly pattern: string | null;
  readonly tag: string | null;
  readonly host: string | null;
  readonly all: boolean;
  readonly undo: number | null;
}

/** Chooses the one way that was used; the error says what goes together. */
export function chooseTarget(fields: PurgeFields): Result<PurgeTarget, string> {
  const { url, pattern, tag, host, all, undo } = fields;
  const targets: PurgeTarget[] = [];
  if (url !== null) targets.push({ kind: 'url', url });
  if (pattern !== null) targets.push({ kind: 'pattern', pattern, host });
  if (tag !== null) targets.push({ kind: 'tag', tag, host });
  if (all) targets.push({ kind: 'all' });
  if (undo !== null) targets.push({ kind: 'undo', id: undo });
  if (targets.length === 0 && host !== null) return ok({ kind: 'host', host });
  const [target] = targets;
  if (target === undefined || targets.length > 1) {
    return err('give one of: a URL, a pattern, a tag, a host, all, undo');
  }
  const takesHost = target.kind === 'pattern' || target.kind === 'tag';
  return host === null || takesHost ? ok(target) : err('a host goes with a pattern or a tag');
}

/** As `POST /purge` takes it. */
export function formatOrder({ target, soft, dryRun }: PurgeRequest): Record<string, unknown> {
  const { kind, ...fields } = target;
  const named = kind === 'undo' ? { undo: target.id } : kind === 'all' ? { all: true } : fields;
  return { ...named, soft, dry_run: dryRun };
}

export type SelectError =
  | { readonly kind: 'invalid_url'; readonly error: UrlErrorKind }
  | { readonly kind: 'invalid_pattern'; readonly message: string }
  | { readonly kind: 'invalid_tag' }
  /** As it was asked for; of a URL the normalized name. */
  | { readonly kind: 'unknown_host'; readonly host: string };

export interface SelectContext {
  readonly decider: Decider;
  readonly hosts: readonly HostPolicy[];
}

/** The pages that are meant. */
export function selectPages(
  target: Exclude<PurgeTarget, { readonly kind: 'undo' }>,
  context: SelectContext,
): Result<PurgeSelector, SelectError> {
  switch (target.kind) {
    case 'url':
      return selectUrl(target.url, context.decider);
    case 'pattern': {
      const { pattern } = target;
      const parsed = parsePathPattern(pattern);
      if (!parsed.ok) {
        const { message, hint } = parsed.error;
        return err({ kind: 'invalid_pattern', message: `${message}: ${hint}` });
      }
      return withHost(target.host, context, (hostId) => ({ kind: 'pattern', pattern, hostId }));
    }
    case 'tag': {
      const { tag } = target;
      if (!TAG.test(tag)) return err({ kind: 'invalid_tag' });
      return withHost(target.host, context, (hostId) => ({ kind: 'tag', tag, hostId }));
    }
    case 'host': {
      const host = findNamedHost(target.host, context.hosts);
      return host === undefined
        ? err({ kind: 'unknown_host', host: target.host })
        : ok({ kind: 'host', hostId: host.id });
    }
    case 'all':
      return ok({ kind: 'all' });
  }
}

function withHost(
  name: string | null,
  { hosts }: SelectContext,
  select: (hostId: number | null) => PurgeSelector,
): Result<PurgeSelector, SelectError> {
  if (name === null) return ok(select(null));
  const host = findNamedHost(name, hosts);
  return host === undefined ? err({ kind: 'unknown_host', host: name }) : ok(select(host.id));
}

/**
 * The key is made by the same decision as for serving, so that what is purged under any spelling of
 * a URL is what would have been served under it.
 */
function selectUrl(url: string, decider: Decider): Result<PurgeSelector, SelectError> {
  const decision = decider.decide(questionAbout(url), null);
  if (decision.error !== null) return err({ kind: 'invalid_url', error: decision.error });
  const { host, hash, normalized, learned } = decision;
  if (host === null) return err({ kind: 'unknown_host', host: new URL(normalized).host });
  const ids = dimensionsOf(host).map(({ id }) => id);
  const keys = [...new Set([...ids, BYPASS_DIMENSION_ID])].map((id) =>
    formatCacheKey({ hostId: host.id, dimensionId: id, hash }),
  );
  return ok({ kind: 'url', url: normalized, keys, ...(learned && { learned: learned.header }) });
}
