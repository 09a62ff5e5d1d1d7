// Purge: pages taken out on request. The key is made by the same decision as for serving, so what
// is purged under any spelling of a URL is what would have been served under it.
import type { Decider } from '../core/decision/create-decider.ts';
import { formatCacheKey } from '../core/key/cache-key.ts';
import type { Dimension, HostPolicy } from '../core/policy/policy.ts';
import { err, ok, type Result } from '../core/result.ts';
import { normalizeHost } from '../core/url/normalize-host.ts';
import type { UrlErrorKind } from '../core/url/url-error.ts';
import type { PageStore } from './page-store.ts';
import type { PurgeMode } from './purge-stored.ts';

export interface PurgeReport {
  /** How many entries went, or would go. */
  readonly entries: number;
  /** The normalized URL, when one was asked for. */
  readonly url: string | null;
  readonly host: number;
}

export type PurgeError =
  | { readonly kind: 'invalid_url'; readonly error: UrlErrorKind }
  | { readonly kind: 'unknown_host' }
  | { readonly kind: 'store_unavailable'; readonly reason: string };

/** What is to go: exactly one of the two is set. */
export interface PurgeRequest extends PurgeMode {
  readonly url: string | null;
  /** A domain, or a host id as text. */
  readonly host: string | null;
}

export type Purgeable = Pick<PageStore, 'purge' | 'purgeHost'>;

export interface PurgeContext {
  readonly decider: Decider;
  readonly hosts: readonly HostPolicy[];
  readonly pages: Purgeable;
}

/** Carries out one purge; answers how many entries went. */
export async function purgePages(
  request: PurgeRequest,
  context: PurgeContext,
): Promise<Result<PurgeReport, PurgeError>> {
  if (request.url !== null) return await purgeUrl(request.url, request, context);
  const host = findNamed(request.host ?? '', context.hosts);
  if (host === undefined) return err({ kind: 'unknown_host' });
  const done = await context.pages.purgeHost(host.id, request);
  if (done.state === 'unavailable') return err({ kind: 'store_unavailable', reason: done.reason });
  return ok({ entries: done.value, url: null, host: host.id });
}

/** By id, or by domain in any spelling. */
function findNamed(name: string, hosts: readonly HostPolicy[]): HostPolicy | undefined {
  // A wildcard is no host name; it is compared as it is configured.
  const normal = normalizeHost(name);
  const domain = normal.ok ? normal.value : name.toLowerCase();
  return hosts.find(({ id, domains }) => String(id) === name || domains.includes(domain));
}

/** One page goes in all dimensions of its host. */
async function purgeUrl(
  url: string,
  mode: PurgeMode,
  { decider, pages }: PurgeContext,
): Promise<Result<PurgeReport, PurgeError>> {
  const decision = decider.decide(
    { url, method: 'GET', userAgent: '', hasAuthorization: false },
    null,
  );
  if (decision.error !== null) return err({ kind: 'invalid_url', error: decision.error });
  const { host, hash, normalized } = decision;
  if (host === null) return err({ kind: 'unknown_host' });
  let entries = 0;
  for (const dimension of allDimensions(host)) {
    const key = formatCacheKey(host.id, dimension.id, hash);
    const ref = { hostId: host.id, dimensionId: dimension.id, hash };
    const done = await pages.purge(key, ref, normalized, mode);
    if (done.state === 'unavailable') {
      return err({ kind: 'store_unavailable', reason: done.reason });
    }
    if (done.value) entries += 1;
  }
  return ok({ entries, url: normalized, host: host.id });
}

/** The host's own, and those that only a rule names. */
function allDimensions(host: HostPolicy): readonly Dimension[] {
  const named = host.rules.flatMap(({ dimension }) => (dimension === null ? [] : [dimension]));
  const byId = new Map(
    [...host.dimensions, ...named].map((dimension) => [dimension.id, dimension]),
  );
  return [...byId.values()];
}
