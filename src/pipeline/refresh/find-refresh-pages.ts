// Which pages are meant by a URL that somebody wants to have refreshed: one a dimension, made by
// the same decision as for serving.
import type { Decider } from '../../core/decision/create-decider.ts';
import { type DecisionReason, questionAbout } from '../../core/decision/decision.ts';
import { formatCacheKey } from '../../core/key/cache-key.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { dimensionsOf } from '../../core/routing/dimensions-of.ts';
import type { UrlErrorKind } from '../../core/url/url-error.ts';
import type { BodyRef, CacheKey } from '../ports.ts';

export interface RefreshPage {
  readonly key: CacheKey;
  readonly ref: BodyRef;
  /** Normalized. */
  readonly url: string;
  /** Its name. */
  readonly dimension: string;
}

export type NoPageReason = UrlErrorKind | DecisionReason | 'unknown_dimension';

/**
 * @param url in any spelling
 * @param dimensionName null: every dimension that is rendered
 */
export function findRefreshPages(
  url: string,
  dimensionName: string | null,
  decider: Decider,
): Result<readonly RefreshPage[], NoPageReason> {
  const question = questionAbout(url);
  const first = decider.decide(question, null);
  if (first.error !== null) return err(first.error);
  if (first.host === null) return err('unknown_host');
  const pages = new Map<CacheKey, RefreshPage>();
  let reason: NoPageReason = 'unknown_dimension';
  for (const { id, name, action } of dimensionsOf(first.host)) {
    if (dimensionName === null ? action !== 'render' : name !== dimensionName) continue;
    const decision = decider.decide({ ...question, dimensionId: id }, null);
    const { host, dimension } = decision;
    const isPage = decision.action === 'render';
    if (decision.error !== null || !isPage || host === null || dimension === null) {
      reason = decision.reason;
      continue;
    }
    const ref = { hostId: host.id, dimensionId: dimension.id, hash: decision.hash };
    const key = formatCacheKey(ref);
    pages.set(key, { key, ref, url: decision.normalized, dimension: dimension.name });
  }
  return pages.size > 0 ? ok([...pages.values()]) : err(reason);
}
