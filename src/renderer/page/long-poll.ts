// Tells a long poll from data that is slow to come. Age can't: the first question of a poll and a
// slow API look the same. So only a sign that the page does without the answer makes a request a
// long poll; whatever shows none is waited for, and a page without it is partial, never complete.
import { isIP } from 'node:net';
import { RENDER_LIMITS } from '../limits.ts';

/** A request of a page's script, as Chromium tells of it. */
export interface AskedRequest {
  readonly method: string;
  readonly url: string;
  /** As far as the page's script has a say in them. */
  readonly headers: Readonly<Record<string, string>>;
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

/** Parameters that keep an answer out of caches and ask for nothing else, as long as a number. */
const CACHE_BUSTERS: ReadonlySet<string> = new Set([
  '_',
  'cachebust',
  'cb',
  'nocache',
  'rand',
  'random',
  'rnd',
]);
const NUMBER = /^[0-9.]+$/;
/** Others do so only by a value that nobody looks for: a time, a fraction, a random id. */
const TIME_NAMES: ReadonlySet<string> = new Set(['t', 'time', 'timestamp', 'ts']);
const RANDOM = /^(?:\d{9,}(?:\.\d+)?|0\.\d{6,}|[0-9a-f-]{16,})$/i;
/** Engine.IO's polling writes the time in 64 digits. */
const ENGINE_TIME = /^[\w-]{6,}$/;

/** What may be data as a whole (JSON, HTML, plain text) is, however slowly it drips. */
const STREAM_TYPES: ReadonlySet<string> = new Set([
  'application/json-lines',
  'application/json-seq',
  'application/jsonl',
  'application/ndjson',
  'application/stream+json',
  'application/x-json-stream',
  'application/x-ndjson',
  'multipart/x-mixed-replace',
]);
const STREAM_PREFIXES = /^application\/(?:grpc|connect)[-+]/;

/** Whether it may be left under way when it has been for long. */
export function isLongPoll(signs: PollSigns): boolean {
  return signs.isAskedAgain || signs.isOthersTalk || (signs.isStream && signs.hasBody);
}

/**
 * A request in words that its repetition has too; null when it can't be compared. Every other
 * parameter counts, and so do fields and body: page 2 of a list, other rows by `Range` and a second
 * GraphQL query are data.
 */
export function questionOf(asked: AskedRequest): string | null {
  const { method, url, headers, hasPostData, postData } = asked;
  if (!URL.canParse(url) || (hasPostData === true && postData === undefined)) return null;
  const { origin, pathname, search } = new URL(url);
  const kept = withoutCacheBusters(search.slice(1).split('&'));
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const question = [
    method,
    origin,
    pathname,
    kept.join('&'),
    ...fields.toSorted(),
    postData ?? '',
  ].join('\n');
  return question.length > RENDER_LIMITS.textCharsMax ? null : question;
}

function withoutCacheBusters(pairs: readonly string[]): readonly string[] {
  const isEngine = pairs.some((pair) => pair.startsWith('EIO='));
  return pairs.filter((pair) => {
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, Math.max(0, at)), pair.slice(at + 1)];
    if (CACHE_BUSTERS.has(name) && NUMBER.test(value)) return false;
    if (isEngine && name === 't' && ENGINE_TIME.test(value)) return false;
    return !((CACHE_BUSTERS.has(name) || TIME_NAMES.has(name)) && RANDOM.test(value));
  });
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
