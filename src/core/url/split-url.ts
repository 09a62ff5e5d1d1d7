// Steps 1–3: limits, then the text is cut into components by hand, decoding nothing. A parser that
// repairs (WHATWG) or that reads `example.com:8080` as a scheme (RFC 3986) would cut elsewhere.

import type { UrlLimits } from '../policy/policy.ts';
import { err, ok, type Result } from '../result.ts';
import { recordStep, type Trace } from './trace.ts';
import type { UrlErrorKind } from './url-error.ts';

export interface SplitUrl {
  readonly scheme: 'http' | 'https';
  /** Host and port as written, without the leading slashes. */
  readonly authority: string;
  /** As written; empty or starting with `/` or `\`. */
  readonly path: string;
  /** Text after the first `?`; empty when there is none. */
  readonly query: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to refuse
const CONTROL_CHARS = /[\u0000-\u001f\u007f]/;
const HTTP_WITHOUT_SLASHES = /^https?:(?!\/\/)/i;

/** Splits a URL text; the limits of step 1 come first, so that nothing works on oversized input. */
export function splitUrl(
  input: string,
  limits: UrlLimits,
  trace: Trace | null,
): Result<SplitUrl, UrlErrorKind> {
  const text = trimSpaces(input);
  recordStep(trace, 'trim', input, text);
  if (CONTROL_CHARS.test(text)) return err('control_char');
  if (exceedsBytes(text, limits.urlBytesMax)) return err('too_long');

  const hashAt = text.indexOf('#');
  const withoutFragment = hashAt === -1 ? text : text.slice(0, hashAt);
  const queryAt = withoutFragment.indexOf('?');
  const beforeQuery = queryAt === -1 ? withoutFragment : withoutFragment.slice(0, queryAt);
  const query = queryAt === -1 ? '' : withoutFragment.slice(queryAt + 1);
  if (exceedsParams(query, limits.paramsMax)) return err('too_many_params');
  if (hashAt !== -1) recordStep(trace, 'fragment', text.slice(hashAt), '');

  const schemeAndRest = splitScheme(beforeQuery, trace);
  if (!schemeAndRest.ok) return schemeAndRest;
  const { scheme, rest } = schemeAndRest.value;
  const pathAt = findPath(rest);
  return ok({
    scheme,
    authority: pathAt === -1 ? rest : rest.slice(0, pathAt),
    path: pathAt === -1 ? '' : rest.slice(pathAt),
    query,
  });
}

/** Where the authority ends: at a slash, or at what browsers take for one. */
function findPath(text: string): number {
  const slashAt = text.indexOf('/');
  const backslashAt = text.indexOf('\\');
  return backslashAt === -1 || (slashAt !== -1 && slashAt < backslashAt) ? slashAt : backslashAt;
}

/** `rest` starts with the authority. A `://` after the first slash is path text, not a scheme. */
function splitScheme(
  text: string,
  trace: Trace | null,
): Result<{ readonly scheme: 'http' | 'https'; readonly rest: string }, UrlErrorKind> {
  const slashAt = text.indexOf('/');
  if (slashAt > 0 && text.startsWith('://', slashAt - 1)) {
    const written = text.slice(0, slashAt - 1);
    const scheme = written.toLowerCase();
    if (scheme !== 'http' && scheme !== 'https') return err('unsupported_scheme');
    recordStep(trace, 'scheme', written, scheme);
    return ok({ scheme, rest: text.slice(slashAt + 2) });
  }
  // A gateway does not repair: https:/x, https:x and /path name no host.
  if (HTTP_WITHOUT_SLASHES.test(text)) return err('missing_host');
  recordStep(trace, 'scheme', '', 'https');
  if (slashAt !== 0) return ok({ scheme: 'https', rest: text });
  return text.startsWith('//') ? ok({ scheme: 'https', rest: text.slice(2) }) : err('missing_host');
}

function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) === 0x20) start += 1;
  while (end > start && text.charCodeAt(end - 1) === 0x20) end -= 1;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

/** Whether the UTF-8 form is longer than the limit; counts bytes only when the answer is close. */
export function exceedsBytes(text: string, bytesMax: number): boolean {
  if (text.length > bytesMax) return true;
  if (text.length * 3 <= bytesMax) return false;
  return new TextEncoder().encode(text).length > bytesMax;
}

function exceedsParams(query: string, paramsMax: number): boolean {
  // Every pair but the last takes at least two characters.
  if (query.length < paramsMax * 2) return false;
  let pairs = 0;
  for (const piece of query.split('&')) if (piece !== '') pairs += 1;
  return pairs > paramsMax;
}
