// A link against the page it was found on, RFC 3986 §5.2, by hand: the path is only joined here and
// normalized later, so that both happen by the one set of rules. A backslash counts as a slash, as
// in every browser, or a link would name another host here than it does there.
import { err, ok, type Result } from '../result.ts';
import type { UrlErrorKind } from './url-error.ts';

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const HTTP = /^https?:/i;
const ABSOLUTE = /^(https?):\/\/([^/\\?#]*)([^?#]*)(\?[^#]*)?/i;
const TWO_SLASHES = /^[/\\]{2}/;
/** As the last segment of a path it names a folder. */
const FINAL_DOTS = /(?:^|[/\\])(?:\.|%2e){1,2}$/i;

/**
 * Makes a link absolute.
 *
 * @param link as written in a page
 * @param base absolute http(s) URL of that page
 * @returns an absolute URL text; `unsupported_scheme` for `mailto:` and the like; `missing_host`
 *   for a base that is not absolute
 */
export function resolveLink(link: string, base: string): Result<string, UrlErrorKind> {
  const text = trimBlanks(link);
  if (SCHEME.test(text)) return HTTP.test(text) ? ok(text) : err('unsupported_scheme');
  const page = trimBlanks(base);
  const parts = ABSOLUTE.exec(page);
  if (parts === null) {
    return err(SCHEME.test(page) && !HTTP.test(page) ? 'unsupported_scheme' : 'missing_host');
  }
  const [, scheme = '', authority = '', path = '', query = ''] = parts;
  const root = `${scheme}://${authority}`;
  if (TWO_SLASHES.test(text)) return ok(`${scheme}://${text.slice(2)}`);
  if (text.startsWith('/') || text.startsWith('\\')) return ok(root + text);
  if (text.startsWith('?')) return ok(root + path + text);
  if (text === '' || text.startsWith('#')) return ok(root + path + query);
  return ok(root + folderOf(path) + text);
}

/** Up to the last slash: what a relative path starts from. */
function folderOf(path: string): string {
  if (FINAL_DOTS.test(path)) return `${path}/`;
  const lastSlash = path.replaceAll('\\', '/').lastIndexOf('/');
  return path.slice(0, lastSlash + 1) || '/';
}

/** The blanks that HTML allows around a link; a no-break space is a character of the link. */
function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d || code === 0x0c;
}
