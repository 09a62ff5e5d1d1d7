// How long an answer is fresh and how old it already is (RFC 9111 §4.2). Only explicit freshness
// counts: nothing is guessed from `Last-Modified`. What can't be read makes an answer older.
import { type HeaderList, headerValues } from '../header-list.ts';
import { parseHttpDate } from '../http-date.ts';
import type { ResponseDirectives } from './response-directives.ts';

/** No answer is taken to be fresh for longer: a year. */
const LIFETIME_SECONDS_MAX = 31_536_000;

/**
 * Seconds of freshness from the moment the origin made the answer; null: it doesn't say.
 *
 * @param receivedAt epoch milliseconds: stands in for a `Date` that is missing
 */
export function freshnessLifetime(
  headers: HeaderList,
  directives: ResponseDirectives,
  receivedAt: number,
): number | null {
  const { noCache, sMaxAge, maxAge, isTargeted } = directives;
  if (noCache) return 0;
  const said = sMaxAge ?? maxAge;
  if (said !== null) return Math.min(said, LIFETIME_SECONDS_MAX);
  const expires = headerValues(headers, 'expires');
  if (isTargeted || expires.length === 0) return null;
  const [first = '', ...others] = expires;
  const expiresAt = others.length === 0 ? parseHttpDate(first) : null;
  if (expiresAt === null) return 0;
  const seconds = (expiresAt - dateOf(headers, receivedAt)) / 1000;
  return Math.min(Math.max(0, seconds), LIFETIME_SECONDS_MAX);
}

/**
 * Age on arrival in milliseconds (RFC 9111 §4.2.3). Infinite where `Age` is not one whole number:
 * a cache in front of the origin is broken, and nobody knows how old its answers are.
 */
export function initialAgeMs(
  headers: HeaderList,
  { requestedAt, receivedAt }: { readonly requestedAt: number; readonly receivedAt: number },
): number {
  const apparentMs = Math.max(0, receivedAt - dateOf(headers, receivedAt));
  return Math.max(apparentMs, ageValueMs(headers) + Math.max(0, receivedAt - requestedAt));
}

function ageValueMs(headers: HeaderList): number {
  const [age, ...others] = headerValues(headers, 'age');
  if (age === undefined) return 0;
  return others.length === 0 && /^[0-9]{1,15}$/.test(age) ? Number(age) * 1000 : Infinity;
}

function dateOf(headers: HeaderList, receivedAt: number): number {
  const [date, ...others] = headerValues(headers, 'date');
  if (date === undefined || others.length > 0) return receivedAt;
  return parseHttpDate(date) ?? receivedAt;
}
