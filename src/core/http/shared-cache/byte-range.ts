// One byte range of a whole answer (RFC 9110 §14): what a request asks for, and whether its
// If-Range still means this answer. Several ranges, and units other than bytes, are not for us.
import { type HeaderList, headerValues } from '../header-list.ts';
import { parseHttpDate } from '../http-date.ts';

export type RangeAnswer =
  /** No range that counts: the whole answer. */
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly first: number; readonly last: number }
  | { readonly kind: 'unsatisfiable' };

const WHOLE: RangeAnswer = { kind: 'whole' };

/** @param bytes length of the whole answer */
export function chooseRange(request: HeaderList, stored: HeaderList, bytes: number): RangeAnswer {
  const [range, ...others] = headerValues(request, 'range');
  if (range === undefined || others.length > 0 || !isStillMeant(request, stored)) return WHOLE;
  const parts = /^bytes=[ \t]*([0-9]{0,15})-([0-9]{0,15})[ \t]*$/i.exec(range);
  const [, from = '', to = ''] = parts ?? [];
  if (parts === null || (from === '' && to === '')) return WHOLE;
  if (from === '') {
    const length = Math.min(Number(to), bytes);
    if (length === 0) return { kind: 'unsatisfiable' };
    return { kind: 'part', first: bytes - length, last: bytes - 1 };
  }
  const first = Number(from);
  const last = to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1);
  if (to !== '' && Number(to) < first) return WHOLE;
  return first < bytes ? { kind: 'part', first, last } : { kind: 'unsatisfiable' };
}

/** RFC 9110 §13.1.5: a strong tag that is ours, or exactly our date. */
function isStillMeant(request: HeaderList, stored: HeaderList): boolean {
  const [condition, ...others] = headerValues(request, 'if-range');
  if (condition === undefined) return true;
  if (others.length > 0) return false;
  const [etag = ''] = headerValues(stored, 'etag');
  if (condition.startsWith('"')) return condition === etag;
  const [modified = ''] = headerValues(stored, 'last-modified');
  const date = parseHttpDate(condition);
  return date !== null && date === parseHttpDate(modified);
}
