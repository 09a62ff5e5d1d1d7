// RFC 9111 §4.4: a method that may change something, and succeeds, makes the stored answers of its
// URL invalid, and those of the URLs of the same host that its answer names. Before the client has
// the answer, so that its next request sees the change, whichever process gets that; what was on
// its way when the change was made is older than it, wherever it is stored.
import { questionAbout } from '../../core/decision/decision.ts';
import { headerValues } from '../../core/http/header-list.ts';
import { formatIdentity, type PipelineDeps } from '../deps.ts';
import { forgetPage } from '../purge/forget-purged.ts';
import type { PassedHead, Planned } from '../state.ts';
import { exchangePlace } from './exchange-place.ts';

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** Whether an answer to this method can make others invalid. */
export function isUnsafe(method: string): boolean {
  return !SAFE.has(method);
}

/** @returns told of the origin's answer; never rejects */
export function invalidateBy(
  planned: Planned,
  deps: PipelineDeps,
): (head: PassedHead) => Promise<void> {
  return async ({ status, headers }) => {
    if (status < 200 || status > 399) return;
    const named = ['location', 'content-location'].flatMap((name) => headerValues(headers, name));
    const urls = named.flatMap((reference) => resolveNamed(planned, reference));
    const { normalized, hash } = planned.decision;
    const targets = new Map([[normalized, hash], ...urls]);
    await Promise.all(
      [...targets].map(([url, urlHash]) => {
        const place = exchangePlace(planned.host, urlHash);
        forgetPage(formatIdentity(place.key, url), deps);
        return deps.invalidations.add({ ...place, url });
      }),
    );
  };
}

/** The normalized URL and its hash, where it is of the same host. */
function resolveNamed(
  { request, site, host }: Planned,
  reference: string,
): readonly (readonly [string, string])[] {
  if (!URL.canParse(reference, request.url)) return [];
  const { href } = new URL(reference, request.url);
  const again = site.decider.decide(questionAbout(href), null);
  return again.error === null && again.host === host ? [[again.normalized, again.hash]] : [];
}
