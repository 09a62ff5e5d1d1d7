// Deliver: a page as an answer, with our own validators, age and coding. The same code writes the
// first answer and every hit, so they differ in nothing but age and diagnostics.
import type { ForwardReason } from '../core/http/cache-status.ts';
import { formatEtag, isNotModified, withoutContent } from '../core/http/conditional.ts';
import { filterEndToEnd } from '../core/http/filter-headers.ts';
import { ageSeconds, ttlSeconds } from '../core/http/freshness.ts';
import { firstHeader, headerValues } from '../core/http/header-list.ts';
import { formatHttpDate } from '../core/http/http-date.ts';
import { negotiateEncoding, rankEncodings } from '../core/http/negotiate-encoding.ts';
import { isCachingField, tellDownstream } from '../core/http/tell-downstream.ts';
import { TAG_FIELDS } from '../core/purge/tag.ts';
import { announceStripping } from '../core/tracking/announce-stripping.ts';
import type { PipelineDeps } from './deps.ts';
import { type Diagnosis, describe } from './describe-answer.ts';
import type { BodyReading, ContentCoding, Entry, Found, HeaderList } from './ports.ts';
import type { Answer, AnswerDelivery, Delivery, FilledPage, Keyed } from './state.ts';

export interface ServedEntry {
  readonly how: 'hit' | 'stale';
  readonly entry: Entry;
  /** Why a stale page is served, where that was not planned. */
  readonly detail: string | null;
  /** What came along with the look-up of the entry. */
  readonly ahead?: BodyReading | undefined;
}

/** An answer but for its body. */
export interface DescribedAnswer {
  readonly delivery: AnswerDelivery;
  /** What its body is read in; null: it has none. */
  readonly coding: ContentCoding | null;
}

/** Answers from an entry; anything but `found` means that its body could not be read. */
export async function answerEntry(
  keyed: Keyed,
  stored: ServedEntry,
  deps: PipelineDeps,
): Promise<Found<Delivery>> {
  const { delivery, coding } = describeEntry(keyed, stored, deps.clock.now());
  if (coding === null) return { state: 'found', value: delivery };
  const body = await deps.pages.readBody(stored.entry, coding, stored.ahead);
  if (body.state !== 'found') return body;
  const answer = { ...delivery.answer, body: body.value };
  return { state: 'found', value: { ...delivery, answer } };
}

/** What is answered from an entry, and in which coding. */
export function describeEntry(
  keyed: Keyed,
  { how, entry, detail }: ServedEntry,
  now: number,
): DescribedAnswer {
  const { status } = entry;
  const diagnosis: Diagnosis = {
    source: 'cache',
    cache: how,
    forward: null,
    ttlSeconds: ttlSeconds(entry, now),
    ageSeconds: ageSeconds(entry, now),
    detail: detail ?? partialDetail(entry),
  };
  const headers = pageHeaders(keyed, entry, now);
  if (isUnchanged(keyed, entry)) {
    const answer = { status: 304, headers: withoutContent(headers), body: null };
    return { delivery: deliver(keyed, answer, diagnosis), coding: null };
  }
  const coding = chooseCoding(keyed, entry);
  const answer = { status, headers: [...headers, ...contentHeaders(entry, coding)], body: null };
  const delivery = deliver(keyed, answer, diagnosis);
  return { delivery, coding: keyed.request.method === 'HEAD' ? null : coding };
}

/**
 * Until when a fresh entry is described in the same words: its age, its time to live and the date
 * are told in whole seconds.
 */
export function describedUntil({ cachedAt, staleAt }: Entry, now: number): number {
  const secondsEnd = [now, now - cachedAt].map((ms) => now + 1000 - (ms % 1000));
  // The time to live is rounded down as well, so its second ends just behind the full one.
  return Math.min(staleAt, now + ((staleAt - now) % 1000) + 1, ...secondsEnd);
}

export interface NewAnswer {
  readonly fill: FilledPage;
  readonly isCollapsed: boolean;
  readonly detail: string | null;
}

/** Answers with a page that was just got. */
export function answerPage(keyed: Keyed, { fill, isCollapsed, detail }: NewAnswer): Delivery {
  const { page, entry } = fill;
  const diagnosis: Diagnosis = {
    source: 'rendered',
    cache: 'miss',
    forward: forwardReason(detail),
    isStored: entry !== null,
    isCollapsed,
    detail: detail ?? partialDetail(entry),
  };
  const length: HeaderList = [['Content-Length', String(page.body.length)]];
  if (entry === null) {
    const headers = tellDownstream([...unstoredHeaders(page), ...length], 'unkept');
    return deliver(keyed, { status: page.status, headers, body: page.body }, diagnosis);
  }
  const headers = pageHeaders(keyed, entry, entry.cachedAt);
  if (isUnchanged(keyed, entry)) {
    return deliver(keyed, { status: 304, headers: withoutContent(headers), body: null }, diagnosis);
  }
  return deliver(
    keyed,
    { status: page.status, headers: [...headers, ...length], body: page.body },
    diagnosis,
  );
}

function deliver(keyed: Keyed, answer: Answer, diagnosis: Diagnosis): AnswerDelivery {
  const { record, headers } = describe(keyed, keyed.decision, diagnosis);
  return {
    kind: 'answer',
    record,
    answer: { ...answer, headers: [...answer.headers, ...headers] },
  };
}

/** Not what the page will be once it is ready. */
function partialDetail(entry: Entry | null): string | null {
  return entry?.partial === true ? 'partial' : null;
}

function forwardReason(detail: string | null): ForwardReason {
  return detail === 'expired' ? 'stale' : 'uri-miss';
}

/** What describes bytes that are not sent, or tags them for caches. */
const UNSTORED_DROPPED: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-length',
  'etag',
  'last-modified',
  ...TAG_FIELDS,
]);

/** A page that was not stored goes out with what its source said, but never into another cache. */
function unstoredHeaders(page: FilledPage['page']): HeaderList {
  const headers = filterEndToEnd(page.headers).filter(
    ([name]) => !UNSTORED_DROPPED.has(name.toLowerCase()),
  );
  if (page.source === 'origin') return headers;
  const others = headers.filter(([name]) => name.toLowerCase() !== 'content-type');
  return [...others, ['Content-Type', 'text/html; charset=utf-8']];
}

function pageHeaders(keyed: Keyed, entry: Entry, now: number): HeaderList {
  const stored = entry.headers.filter(
    ([name]) => name.toLowerCase() !== 'vary' && !isCachingField(name),
  );
  const headers: [string, string][] = stored.map(([name, value]) => [name, value]);
  headers.push(['Age', String(ageSeconds(entry, now))]);
  headers.push(['Date', formatHttpDate(now)]);
  if (entry.status === 200) {
    headers.push(['ETag', formatEtag(entry.bodies.identity.hash)]);
    headers.push(['Last-Modified', formatHttpDate(entry.modifiedAt)]);
  }
  return [...headers, ...searchHeaders(keyed, headers), ...downstreamHeaders(keyed, entry, now)];
}

/** Which other URLs a browser may take this page for, unless the page says so itself. */
function searchHeaders({ decision: { policy } }: Keyed, headers: HeaderList): HeaderList {
  const isOurs =
    policy.normalization.noVarySearch === 'emit' && firstHeader(headers, 'no-vary-search') === null;
  const value = isOurs ? announceStripping(policy) : null;
  return value === null ? [] : [['No-Vary-Search', value]];
}

/** What caches in front may do: one URL has a page for crawlers and another for people. */
function downstreamHeaders(keyed: Keyed, entry: Entry, now: number): HeaderList {
  const varyNames = ['Accept-Encoding', 'User-Agent'];
  // A page that will be another one in a moment, or a failure, is for nobody to keep.
  const isPassing = entry.partial === true || entry.status >= 500;
  const mode = isPassing ? 'private' : keyed.decision.policy.downstreamCache;
  if (mode === 'origin') {
    for (const name of headerValues(entry.headers, 'vary').flatMap((value) => value.split(','))) {
      const trimmed = name.trim();
      if (!varyNames.some((known) => known.toLowerCase() === trimmed.toLowerCase())) {
        varyNames.push(trimmed);
      }
    }
    const kept = entry.headers.filter(([name]) => isCachingField(name));
    return [...kept, ['Vary', varyNames.join(', ')]];
  }
  const control =
    mode === 'vary' ? `public, max-age=${lifetimeSeconds(entry, now)}` : 'private, no-cache';
  return [
    ['Cache-Control', control],
    ['Vary', varyNames.join(', ')],
  ];
}

/** All of its time, from which caches subtract the `Age` that goes along (RFC 9111 §4.2.3). */
function lifetimeSeconds(entry: Entry, now: number): number {
  return now < entry.staleAt ? ttlSeconds(entry, entry.cachedAt) : 0;
}

function contentHeaders(entry: Entry, coding: ContentCoding): HeaderList {
  const length: readonly [string, string] = [
    'Content-Length',
    String((entry.bodies[coding] ?? entry.bodies.identity).bytes),
  ];
  return coding === 'identity' ? [length] : [['Content-Encoding', coding], length];
}

function isUnchanged(keyed: Keyed, entry: Entry): boolean {
  if (entry.status !== 200) return false;
  return isNotModified(keyed.request.method, keyed.request.headers, {
    etag: formatEtag(entry.bodies.identity.hash),
    modifiedAt: entry.modifiedAt,
  });
}

function chooseCoding(keyed: Keyed, entry: Entry): ContentCoding {
  const available: ContentCoding[] = ['identity'];
  if (entry.bodies.gzip !== undefined) available.push('gzip');
  if (entry.bodies.br !== undefined) available.push('br');
  return negotiateEncoding(acceptedBy(keyed), keyed.request.httpVersion, available);
}

/** What the body may be read in, best first, before it is known what there is. */
export function wantedCodings(keyed: Keyed): readonly ContentCoding[] {
  const { method, httpVersion } = keyed.request;
  return method === 'HEAD' ? [] : rankEncodings(acceptedBy(keyed), httpVersion);
}

function acceptedBy({ request }: Keyed): string | null {
  const accepted = headerValues(request.headers, 'accept-encoding');
  return accepted.length === 0 ? null : accepted.join(',');
}
