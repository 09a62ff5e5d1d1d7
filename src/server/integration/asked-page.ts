// Which page a pull request asks for: the URL inside of its target, byte for byte. It comes in
// every degree of encoding that proxies and middlewares produce, and is decoded once or never.
import { normalizeAuthority } from '../../core/url/normalize-authority.ts';
import { decodeForm, encodeUnsafe } from '../../core/url/percent-encoding.ts';
import { checkTarget } from '../door/check-target.ts';

export interface AskedPage {
  /** Absolute, its host in normal form, the rest as it was asked for. */
  readonly url: string;
  /** Without port. */
  readonly hostName: string;
  /** With the port, unless it is the scheme's own. */
  readonly publicHost: string;
  /** Path and query, for the origin. */
  readonly target: string;
}

const WRITTEN_OUT = /^https?:\/\//i;
/** A host is never followed by an encoded slash: such a value is encoded behind its scheme. */
const ENCODED_BEHIND_SCHEME = /^https?:\/\/[^/?&#]*%(?:2f|3f)/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to refuse
const CONTROL_CHARS = /[\u0000-\u001f\u007f]/;

/**
 * The URL in `?url=`, or null. Written out (nginx: `url=$scheme://$host$request_uri`) it reaches to
 * the end, since its own `&` can't be told from ours; encoded it ends at the next `&`. A `+` is a
 * plus: URLs have no spaces to be written so.
 *
 * @param query raw, without the `?`
 * @returns a byte string
 */
export function readUrlParameter(query: string): string | null {
  const start = /(?:^|&)url=/.exec(query);
  if (start === null) return null;
  const rest = query.slice(start.index + start[0].length);
  if (WRITTEN_OUT.test(rest) && !ENCODED_BEHIND_SCHEME.test(rest)) return rest;
  return decodeForm(rest.split('&', 1)[0] ?? '', false);
}

/**
 * The URL that is the path, as the prerender contract has it: `/https://example.com/path?query`.
 * Its slashes may have been collapsed on the way, or its path encoded. Null: it is none.
 *
 * @param target raw, in origin form
 * @returns a byte string
 */
export function readUrlPath(target: string): string | null {
  const encoded = /^\/+(https?%3a[^?]*)(\?.*)?$/is.exec(target);
  const text =
    encoded === null ? target : `/${decodeForm(encoded[1] ?? '', false)}${encoded[2] ?? ''}`;
  const parts = /^\/+(https?):\/+([^?]*)(?:\?(.*))?$/is.exec(text);
  if (parts === null) return null;
  const [, scheme = '', rest = '', query = ''] = parts;
  const kept = dropEscapedFragment(query);
  return `${scheme}://${rest}${kept === '' ? '' : `?${kept}`}`;
}

/**
 * `_escaped_fragment_` without a value only says "rendered, please". With one it names a page of
 * the abandoned `#!` scheme and stays what it was for the site.
 */
function dropEscapedFragment(query: string): string {
  if (!query.includes('_escaped_fragment_')) return query;
  const isMark = (pair: string): boolean => /^_escaped_fragment_=?$/.test(pair);
  return query
    .split('&')
    .filter((pair) => !isMark(pair))
    .join('&');
}

/** Reads an absolute URL; null where it is none, or holds what the door would refuse. */
export function parseAskedPage(bytes: string): AskedPage | null {
  if (CONTROL_CHARS.test(bytes)) return null;
  const [withoutFragment = ''] = encodeUnsafe(bytes).split('#', 1);
  const parts = /^(https?):\/\/([^/?\\]+)(.*)$/is.exec(withoutFragment);
  if (parts === null) return null;
  const [, schemeText = '', authorityText = '', rest = ''] = parts;
  const scheme = schemeText.toLowerCase() === 'http' ? 'http' : 'https';
  const authority = normalizeAuthority(authorityText, scheme, null);
  if (!authority.ok) return null;
  const { host, port } = authority.value;
  const path = rest === '' || rest.startsWith('?') ? `/${rest}` : rest;
  const target = path.startsWith('/') ? checkTarget('GET', path, { name: host, port: null }) : null;
  if (target === null || !target.ok) return null;
  const publicHost = port === '' ? host : `${host}:${port}`;
  const url = `${scheme}://${publicHost}${target.value}`;
  return { url, hostName: host, publicHost, target: target.value };
}
