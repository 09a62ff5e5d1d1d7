// A page's own word about its status and headers: `prerender-status-code`, `render:status_code`,
// `prerender-header`. Believed only when the origin said 200, from short lists, and only values
// that can be written on a header line.
import { type HeaderList, isFieldName, isFieldValue } from '../../core/http/header-list.ts';
import { encodeLocation } from '../../core/http/location.ts';
import type { CapturedDom } from './page-script.ts';

export interface MetaAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  /** Target, when the status redirects. */
  readonly location: string | null;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const STATUSES: ReadonlySet<number> = new Set([
  200, 400, 401, 403, 404, 410, 451, 500, 502, 503, 504,
]);
const HEADERS: ReadonlySet<string> = new Set([
  'cache-control',
  'cache-tag',
  'content-language',
  'link',
  'retry-after',
  'surrogate-key',
  'x-robots-tag',
]);

/**
 * The status and headers that a page has in the end.
 *
 * @param origin what the origin said
 * @param metas what the page says
 */
export function applyMetas(
  origin: { readonly status: number; readonly headers: HeaderList },
  metas: Pick<CapturedDom, 'statusMeta' | 'headerMetas' | 'url'>,
): MetaAnswer {
  const { status, headers } = origin;
  if (status !== 200) return { status, headers, location: null };
  const fields = metas.headerMetas.flatMap(parseField);
  const own = fields.filter(([name]) => HEADERS.has(name));
  const replaced = new Set(own.map(([name]) => name));
  const kept = headers.filter(([name]) => !replaced.has(name.toLowerCase()));
  const said = readStatus(metas.statusMeta);
  const location = readLocation(fields, metas.url);
  if (said !== null && REDIRECTS.has(said) && location !== null) {
    return { status: said, headers: [...kept, ...own], location };
  }
  const final = said !== null && STATUSES.has(said) ? said : status;
  return { status: final, headers: [...kept, ...own], location: null };
}

/** The redirect status a page names for when a script leaves it; 302 when it names none. */
export function leavingStatus(statusMeta: string | null): number {
  const said = readStatus(statusMeta);
  return said !== null && REDIRECTS.has(said) ? said : 302;
}

function readStatus(text: string | null): number | null {
  const digits = /^\s*([1-5][0-9]{2})\s*$/.exec(text ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
}

function parseField(text: string): HeaderList {
  const colon = text.indexOf(':');
  const name = text.slice(0, Math.max(0, colon)).trim().toLowerCase();
  const value = text.slice(colon + 1).trim();
  if (!isFieldName(name)) return [];
  // A Location may hold any letters: it is percent-encoded.
  return name === 'location' || isFieldValue(value) ? [[name, value]] : [];
}

function readLocation(fields: HeaderList, pageUrl: string): string | null {
  const text = fields.find(([name]) => name === 'location')?.[1];
  const location = text === undefined ? null : encodeLocation(text);
  if (location === null || !URL.canParse(location, pageUrl)) return null;
  return /^https?:$/.test(new URL(location, pageUrl).protocol) ? location : null;
}
