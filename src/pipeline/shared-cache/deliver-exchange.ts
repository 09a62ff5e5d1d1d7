// Deliver: an answer that was passed on, again or for the first time. Its fields are the origin's;
// ours are `Age`, the length of what is sent, and what says how it came about.
import { chooseDownstream } from '../../core/decision/choose-downstream.ts';
import type { ForwardReason } from '../../core/http/cache-status.ts';
import { isNotModified, withoutContent } from '../../core/http/conditional.ts';
import { firstHeader } from '../../core/http/header-list.ts';
import { parseHttpDate } from '../../core/http/http-date.ts';
import { chooseRange, type RangeAnswer } from '../../core/http/shared-cache/byte-range.ts';
import { tellDownstream } from '../../core/http/tell-downstream.ts';
import { type Diagnosis, describe } from '../describe-answer.ts';
import type { HeaderList } from '../ports.ts';
import type { Answer, Delivery, Keyed, StreamedBody } from '../state.ts';

/** What is served of a stored or shared answer. */
export interface ServedExchange {
  readonly status: number;
  readonly headers: HeaderList;
  readonly initialAgeMs: number;
  /** Epoch milliseconds. */
  readonly cachedAt: number;
  readonly staleAt: number;
  /** Length of the body. */
  readonly bytes: number;
}

/** How it came about. */
export type ServedAs = Pick<
  Diagnosis,
  'cache' | 'forward' | 'forwardStatus' | 'isStored' | 'isCollapsed' | 'originUrl' | 'detail'
>;

const OK = 200;
const PART = 206;
const NOT_MODIFIED = 304;
const UNSATISFIABLE = 416;

/** Whether the client is told that it has the answer already, and needs no body. */
export function isUnchangedFor(
  { request: { method, headers } }: Keyed,
  { status, headers: stored }: Pick<ServedExchange, 'status' | 'headers'>,
): boolean {
  if (status !== OK) return false;
  // RFC 9111 §4.3.2: without Last-Modified, the answer is as old as it says by its date.
  const date = firstHeader(stored, 'last-modified') ?? firstHeader(stored, 'date');
  return isNotModified(method, headers, {
    etag: firstHeader(stored, 'etag'),
    modifiedAt: date === null ? null : parseHttpDate(date),
  });
}

/**
 * An answer from memory or the store.
 *
 * @param body null: it is not needed, for HEAD and 304
 */
export function serveExchange(
  keyed: Keyed,
  served: ServedExchange,
  body: Buffer | null,
  { as, now }: { readonly as: ServedAs; readonly now: number },
): Delivery {
  const ageSeconds = Math.max(0, Math.floor((served.initialAgeMs + now - served.cachedAt) / 1000));
  const headers = toldOf(keyed, [...served.headers, ['Age', String(ageSeconds)]]);
  const diagnosis: Diagnosis = {
    source: as.forward === null ? 'bypass_cache' : 'bypass',
    ...as,
    ttlSeconds: Math.floor((served.staleAt - now) / 1000),
    ageSeconds,
    key: keyed.key,
  };
  const answer = isUnchangedFor(keyed, served)
    ? { status: NOT_MODIFIED, headers: withoutContent(headers), body: null }
    : chooseContent(keyed, { ...served, headers }, body);
  return deliver(keyed, answer, diagnosis);
}

function chooseContent(keyed: Keyed, served: ServedExchange, body: Buffer | null): Answer {
  const { status, headers, bytes } = served;
  const { method, headers: asked } = keyed.request;
  const range: RangeAnswer =
    method === 'GET' && status === OK ? chooseRange(asked, headers, bytes) : { kind: 'whole' };
  if (range.kind === 'unsatisfiable') {
    const described = withoutContent(headers);
    const lengths: HeaderList = [
      ['Content-Range', `bytes */${bytes}`],
      ['Content-Length', '0'],
    ];
    return { status: UNSATISFIABLE, headers: [...described, ...lengths], body: null };
  }
  if (range.kind === 'part') {
    const part = body?.subarray(range.first, range.last + 1) ?? null;
    const lengths: HeaderList = [
      ['Content-Range', `bytes ${range.first}-${range.last}/${bytes}`],
      ['Content-Length', String(range.last - range.first + 1)],
    ];
    return { status: PART, headers: [...headers, ...lengths], body: part };
  }
  return { status, headers: [...headers, ['Content-Length', String(bytes)]], body };
}

export interface PassedOn {
  readonly status: number;
  readonly reason: string;
  /** As the origin sent them, its own length included. */
  readonly headers: HeaderList;
  readonly body: Buffer | StreamedBody;
}

/** Nobody reads it. */
export function discardBody(body: PassedOn['body']): void {
  if (!Buffer.isBuffer(body)) body.stream.destroy();
}

/** The origin's answer as it comes, to the one who asked for it. */
export function streamExchange(
  keyed: Keyed,
  { status, reason, headers: passed, body }: PassedOn,
  as: ServedAs & { readonly forward: ForwardReason },
): Delivery {
  const headers = toldOf(keyed, passed);
  const diagnosis: Diagnosis = { source: 'bypass', ...as, key: keyed.key };
  if (as.cache === 'miss' && isUnchangedFor(keyed, { status, headers })) {
    discardBody(body);
    const answer = { status: NOT_MODIFIED, headers: withoutContent(headers), body: null };
    return deliver(keyed, answer, { ...diagnosis, forwardStatus: status });
  }
  return deliver(keyed, { status, reason, headers, body }, diagnosis);
}

/** With the type of what a 304 stands for. */
function toldOf({ decision }: Keyed, headers: HeaderList): HeaderList {
  return tellDownstream(headers, chooseDownstream(decision, false));
}

function deliver(keyed: Keyed, answer: Answer, diagnosis: Diagnosis): Delivery {
  const { record, headers } = describe(keyed, keyed.decision, diagnosis);
  // Ours take the place of the origin's; Cache-Status is a list to which every cache adds itself.
  const ours = new Set(headers.map(([name]) => name.toLowerCase()));
  ours.delete('cache-status');
  const theirs = answer.headers.filter(([name]) => !ours.has(name.toLowerCase()));
  return { kind: 'answer', record, answer: { ...answer, headers: [...theirs, ...headers] } };
}
