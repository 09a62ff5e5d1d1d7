// Jobs for the page sources: neutral, changed only where a test says so.
import type { HostPolicy, RenderPolicy } from '../../src/core/policy/policy.ts';
import type { Page, PageJob, PageResult } from '../../src/pipeline/ports.ts';
import { DESKTOP, effectivePolicy, hostPolicy } from '../helpers/policies.ts';

export const PAGE_URL = 'https://site.test/page?a=1';

/** A job for `PAGE_URL` at the given origins. */
export function pageJob(
  origins: readonly string[],
  changes: Partial<PageJob> & {
    readonly hostChanges?: Partial<HostPolicy>;
    readonly renderChanges?: Partial<RenderPolicy>;
  } = {},
): PageJob {
  const { hostChanges, renderChanges, ...jobChanges } = changes;
  return {
    url: PAGE_URL,
    host: hostPolicy({
      domain: 'site.test',
      domains: ['site.test'],
      origins: origins.map((url) => ({ url })),
      ...hostChanges,
    }),
    dimension: DESKTOP,
    render: { ...effectivePolicy().render, timeoutMs: 10_000, ...renderChanges },
    headers: [],
    requestId: 'request-1',
    ...jobChanges,
  };
}

/** A signal nobody will pull. */
export function noAbort(): AbortSignal {
  return new AbortController().signal;
}

/** The page of a result; throws with the failure when there is none. */
export function pageOf(result: PageResult): Page {
  if (result.outcome === 'page') return result.page;
  throw new Error(`no page: ${result.reason} (${result.detail})`);
}

/** `reason` of a failure, or the page's status: one word for tables. */
export function wordOf(result: PageResult): string {
  return result.outcome === 'page' ? String(result.page.status) : result.reason;
}
