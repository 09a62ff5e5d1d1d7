// Which requests on their way to the origin may be answered from the cache, and fill it: those that
// anybody could have sent. spec: request-flow, "Only GET and HEAD".
import type { DecisionReason } from '../../decision/decision.ts';
import type { BypassPolicy } from '../../policy/policy.ts';
import { type HeaderList, headerValues } from '../header-list.ts';

export interface PassedRequest {
  readonly method: string;
  readonly headers: HeaderList;
  /** Why it is passed on. */
  readonly reason: DecisionReason;
}

/** What shows who the client is. */
const CREDENTIALS = ['authorization', 'x-access-token', 'x-api-key', 'x-auth-token'];
/** Conditions that only the origin can judge. */
const FOR_ORIGIN = ['if-match', 'if-unmodified-since'];

/** Why the cache has no part in a request; `off`: nobody wants it to. */
export type NoPartReason =
  | 'off'
  | 'method'
  | 'signed_url'
  | 'cookie'
  | 'condition'
  | 'event_stream';

/** null: the cache has a part in it. */
export function whyNoPart(
  { method, headers, reason }: PassedRequest,
  { cookies, cache }: BypassPolicy,
): NoPartReason | null {
  if (!cache.enabled) return 'off';
  if (method !== 'GET' && method !== 'HEAD') return 'method';
  if (reason === 'signed_url') return 'signed_url';
  if (cookies === 'pass' && headerValues(headers, 'cookie').length > 0) return 'cookie';
  if (FOR_ORIGIN.some((name) => headerValues(headers, name).length > 0)) return 'condition';
  const isStream = headerValues(headers, 'accept').some((one) => /text\/event-stream/i.test(one));
  return isStream ? 'event_stream' : null;
}

/** Whether RFC 9111 §3.5 applies; headers that sites use in its place count as well. */
export function hasCredentials(headers: HeaderList): boolean {
  return CREDENTIALS.some((name) => headerValues(headers, name).length > 0);
}

/** Asks for a part of the answer. */
export function hasRange(headers: HeaderList): boolean {
  return headerValues(headers, 'range').length > 0;
}

/** Fields that ask about a client's own copy, or for a part: the cache wants the whole answer. */
const CONDITIONS: ReadonlySet<string> = new Set([
  'if-modified-since',
  'if-none-match',
  'if-range',
  'range',
]);

export function withoutConditions(headers: HeaderList): HeaderList {
  return headers.filter(([name]) => !CONDITIONS.has(name.toLowerCase()));
}
