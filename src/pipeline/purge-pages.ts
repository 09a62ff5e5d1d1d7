// Purge: pages taken out on request. The key is made by the same decision as for serving, so what
// is purged under any spelling of a URL is what would have been served under it.
import type { Decider } from '../core/decision/create-decider.ts';
import { formatCacheKey } from '../core/key/cache-key.ts';
import type { HostPolicy } from '../core/policy/policy.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { UrlErrorKind } from '../core/url/url-error.ts';
import type { PageStore } from './page-store.ts';

export interface PurgeOptions {
  /** Counts only. */
  readonly dryRun: boolean;
  /** Marks stale instead of deleting: served until it is refreshed. */
  readonly soft: boolean;
}

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

/** Purges one page in all dimensions of its host. */
export async function purgeUrl(
  url: string,
  options: PurgeOptions,
  { decider, pages }: { readonly decider: Decider; readonly pages: PageStore },
): Promise<Result<PurgeReport, PurgeError>> {
  const decision = decider.decide(
    { url, method: 'GET', userAgent: '', hasAuthorization: false },
    null,
  );
  if (decision.error !== null) return err({ kind: 'invalid_url', error: decision.error });
  const { host, hash, normalized } = decision;
  if (host === null) return err({ kind: 'unknown_host' });
  let entries = 0;
  for (const dimension of host.dimensions) {
    const key = formatCacheKey(host.id, dimension.id, hash);
    const ref = { hostId: host.id, dimensionId: dimension.id, hash };
    const done = await pages.purge(key, ref, normalized, options);
    if (done.state === 'unavailable')
      return err({ kind: 'store_unavailable', reason: done.reason });
    if (done.value) entries += 1;
  }
  return ok({ entries, url: normalized, host: host.id });
}

/** Purges every page of a host. */
export async function purgeHost(
  host: HostPolicy,
  options: PurgeOptions,
  pages: PageStore,
): Promise<Result<PurgeReport, PurgeError>> {
  const done = await pages.purgeHost(host.id, options);
  if (done.state === 'unavailable') return err({ kind: 'store_unavailable', reason: done.reason });
  return ok({ entries: done.value, url: null, host: host.id });
}
