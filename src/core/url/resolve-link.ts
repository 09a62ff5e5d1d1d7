// A link against the page it was found on, RFC 3986 §5.2, by hand: the path is only joined here and
// normalized later, so that both happen by the one set of rules.
import { err, ok, type Result } from '../result.ts';
import type { UrlErrorKind } from './url-error.ts';

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const ABSOLUTE = /^(https?):\/\/([^/\\?#]*)([^?#]*)(\?[^#]*)?/i;

/**
 * Makes a link absolute.
 *
 * @param link as written in a page
 * @param base absolute http(s) URL of that page
 * @returns an absolute URL text; `unsupported_scheme` for `mailto:` and the like; `missing_host`
 *   for a base without one
 */
export function resolveLink(link: string, base: string): Result<string, UrlErrorKind> {
  const text = link.trim();
  if (SCHEME.test(text)) {
    return /^https?:/i.test(text) ? ok(text) : err('unsupported_scheme');
  }
  const parts = ABSOLUTE.exec(base.trim());
  if (parts === null) return err('missing_host');
  const [, scheme = '', authority = '', path = '', query = ''] = parts;
  const root = `${scheme}://${authority}`;
  if (text.startsWith('//') || text.startsWith('\\\\')) return ok(`${scheme}:${text}`);
  if (text.startsWith('/') || text.startsWith('\\')) return ok(root + text);
  if (text.startsWith('?')) return ok(root + path + text);
  if (text === '' || text.startsWith('#')) return ok(root + path + query);
  const lastSlash = path.replaceAll('\\', '/').lastIndexOf('/');
  return ok(`${root}${path.slice(0, lastSlash + 1) || '/'}${text}`);
}
