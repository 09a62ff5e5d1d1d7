// Tells a long poll from data that is slow to come. Age can't: the first question of a poll and a
// slow API look the same. So only a sign that the page does without the answer makes a request a
// long poll; whatever shows none is waited for, and a page without it is partial, never complete.
import { isIP } from 'node:net';
import { RENDER_LIMITS } from '../limits.ts';

/** A request of a page's script, as Chromium tells of it. */
export interface AskedRequest {
  readonly method: string;
  readonly url: string;
  readonly hasPostData?: boolean;
  readonly postData?: string;
}

/** What a request has shown so far. */
export interface PollSigns {
  /** The page has had a good answer to the same question before it asked again. */
  readonly isAskedAgain: boolean;
  /** A third party's script asks its own servers. */
  readonly isOthersTalk: boolean;
  /** The head has come, of an answer that is read piece by piece and names no end. */
  readonly isStream: boolean;
  /** Something of the body has come: a slow answer may well send its head before it has any. */
  readonly hasBody: boolean;
}

/** Parameters that keep an answer out of caches and ask for nothing else. */
const CACHE_BUSTERS: ReadonlySet<string> = new Set([
  '_',
  'cachebust',
  'cb',
  'nocache',
  'rand',
  'random',
  'rnd',
  't',
  'timestamp',
  'ts',
]);
/** JSON, HTML and XML can't be used before their end: they are data, however slowly they drip. */
const STREAM_TYPES: ReadonlySet<string> = new Set([
  'application/javascript',
  'application/json-lines',
  'application/json-seq',
  'application/jsonl',
  'application/ndjson',
  'application/stream+json',
  'application/x-json-stream',
  'application/x-ndjson',
  'multipart/x-mixed-replace',
  'text/javascript',
  'text/plain',
]);
const STREAM_PREFIXES = /^application\/(?:grpc|connect)[-+]/;

/** Whether it may be left under way when it has been for long. */
export function isLongPoll(signs: PollSigns): boolean {
  return signs.isAskedAgain || signs.isOthersTalk || (signs.isStream && signs.hasBody);
}

/**
 * A request in words that its repetition has too; null when it can't be compared. Every other
 * parameter counts, and so does the body: page 2 of a list and a second GraphQL query are data.
 */
export function questionOf({ method, url, hasPostData, postData }: AskedRequest): string | null {
  if (!URL.canParse(url) || (hasPostData === true && postData === undefined)) return null;
  const { origin, pathname, search } = new URL(url);
  const pairs = search.slice(1).split('&');
  const kept = pairs.filter((pair) => !CACHE_BUSTERS.has(pair.split('=', 1).join()));
  const question = `${method} ${origin}${pathname}?${kept.join('&')}\n${postData ?? ''}`;
  return question.length > RENDER_LIMITS.textCharsMax ? null : question;
}

/** By the head of an answer whether its body is read as it comes, and has no end that is known. */
export function isStreamHead(headers: Readonly<Record<string, string>>): boolean {
  const fields = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const type = (fields.get('content-type') ?? '').split(';', 1).join().trim().toLowerCase();
  const isPiecewise = STREAM_TYPES.has(type) || STREAM_PREFIXES.test(type);
  return isPiecewise && !fields.has('content-length');
}

/**
 * Whether a third party's script asks the site that it comes from. A chat's first question may
 * never be answered, and is no page's own data; what the page's own scripts ask of others may be.
 *
 * @param scriptUrls whose code made the request; none: unknown
 */
export function isOthersTalk(url: string, scriptUrls: readonly string[], pageUrl: string): boolean {
  const [site, pageSite] = [siteOf(url), siteOf(pageUrl)];
  const scriptSites = scriptUrls.map(siteOf);
  return site !== pageSite && !scriptSites.includes(pageSite) && scriptSites.includes(site);
}

/**
 * The last two labels. Under a suffix like co.uk strangers seem to be one site, so that a page
 * waits for more than it has to, never for less.
 */
function siteOf(url: string): string {
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  const isAddress = host.startsWith('[') || isIP(host) !== 0;
  return isAddress ? host : host.split('.').slice(-2).join('.');
}
