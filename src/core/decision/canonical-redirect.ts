// `normalization.canonical_redirect` and `locale_redirect`: where a GET is sent whose host, path or
// trailing slash differ from the canonical ones. The query goes along untouched.
import type { LocaleRedirect, StatusAnswer } from '../policy/policy.ts';
import { hasFileExtension } from '../url/normalize-path.ts';
import { encodeUnsafe, toByteString } from '../url/percent-encoding.ts';
import { makeSite } from '../url/read-site.ts';
import type { Located } from './locate-url.ts';

/**
 * Finds the redirect of a URL, or null.
 *
 * @param settleAgain where the target itself would settle: a target that is not its own canonical
 *   URL is never sent, so no chain of redirects can come back
 */
export function findRedirect(
  located: Located,
  settleAgain: (url: string) => Located | null,
): StatusAnswer | null {
  const code = located.settled.policy.normalization.canonicalRedirect;
  if (code === 'off') return null;
  const target = canonicalTarget(located);
  if (target === null) return null;
  const again = settleAgain(target);
  if (again === null || canonicalTarget(again) !== null) return null;
  return { code, reason: null, headers: [['Location', target]] };
}

/** The canonical URL with the query as it came, or null when the request already names it. */
function canonicalTarget({ parsed, settled }: Located): string | null {
  const { host, path } = settled.normalized;
  const locale = settled.policy.normalization.localeRedirect;
  const canonicalPath = locale === null ? path : addLocale(path, locale);
  // Both paths are encoded, so a difference of spelling alone is none.
  const requestedPath = parsed.encodedPath === '' ? '/' : parsed.encodedPath;
  const { site } = parsed.place;
  if (host === site.host && canonicalPath === requestedPath) return null;
  const search = parsed.query === '' ? '' : `?${encodeUnsafe(toByteString(parsed.query))}`;
  return `${makeSite(site.scheme, host, site.port).prefix}${canonicalPath}${search}`;
}

function addLocale(path: string, locale: LocaleRedirect): string {
  const first = path.split('/', 2)[1] ?? '';
  if (locale.locales.includes(first) || hasFileExtension(path)) return path;
  return `/${locale.default}${path}`;
}
