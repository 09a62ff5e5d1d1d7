// What a client asks for, and what caches in front are told of its answer in each mode of
// `downstream_cache`: fields in lower case and in their order, one list where it is the same in all.
import { BOT, HUMAN } from './stage.ts';

const PASSED_ON_AGENT = 'Mozilla/5.0 (compatible; Passed-On/1.0)';
const CONTROL = ['cache-control: public, max-age=600'];
const TARGETED = ['cdn-cache-control: max-age=600', 'cloudflare-cdn-cache-control: max-age=600'];
const OLDER = ['expires: Thu, 01 Jan 2099 00:00:00 GMT', 'surrogate-control: max-age=600'];
/** What the site says, for all kinds of caches. */
export const SENT = [...CONTROL, ...OLDER, ...TARGETED].toSorted();
export const VARY = 'vary: Accept-Language';
const BOTH = 'vary: Accept-Language, User-Agent';
export const AS_SENT = [...SENT, VARY];
export const VARIED = [...SENT, BOTH];
const UNKEPT = ['cache-control: private, no-store', BOTH];
const OURS = 'vary: Accept-Encoding, User-Agent';

export const MODES = ['private', 'vary', 'origin'] as const;
export type Mode = (typeof MODES)[number];
type Expected = readonly string[] | Readonly<Record<Mode, readonly string[]>>;

export interface Row {
  readonly what: string;
  readonly request: string;
  readonly expected: Expected;
  /** What must show, so that it is the answer that is meant. */
  readonly shows: RegExp;
}

export const PEOPLE: Expected = { private: AS_SENT, vary: VARIED, origin: AS_SENT };
const IF_CHANGED = ['If-None-Match: "theirs"'];

export const PASSED_ON: readonly Row[] = [
  { what: 'HTML', request: get(HUMAN, '/page'), expected: PEOPLE, shows: / 200 / },
  { what: 'XHTML', request: get(HUMAN, '/xhtml'), expected: PEOPLE, shows: /xhtml\+xml/ },
  { what: 'a 304', request: get(HUMAN, '/page', IF_CHANGED), expected: PEOPLE, shows: / 304 / },
  { what: 'a 404', request: get(HUMAN, '/404'), expected: PEOPLE, shows: / 404 / },
  {
    what: 'HTML for a crawler of its own dimension, which is passed on',
    request: get(PASSED_ON_AGENT, '/page'),
    expected: PEOPLE,
    shows: / 200 /,
  },
  { what: 'a style sheet', request: get(HUMAN, '/a.css'), expected: AS_SENT, shows: /text\/css/ },
  {
    what: 'a 304 of a style sheet',
    request: get(HUMAN, '/a.css', IF_CHANGED),
    expected: AS_SENT,
    shows: / 304 /,
  },
  { what: 'JSON', request: get(HUMAN, '/json'), expected: AS_SENT, shows: /json/ },
  { what: 'HTML by rule', request: get(HUMAN, '/app/'), expected: AS_SENT, shows: / 200 / },
  {
    what: 'HTML by rule, for a crawler',
    request: get(BOT, '/app/'),
    expected: AS_SENT,
    shows: / 200 /,
  },
  {
    what: 'a signed URL',
    request: get(HUMAN, '/page?X-Amz-Signature=a'),
    expected: AS_SENT,
    shows: /detail=signed_url/,
  },
  {
    what: 'HTML for a crawler with credentials',
    request: get(BOT, '/page', ['Authorization: Basic eDp5']),
    expected: UNKEPT,
    shows: / 200 /,
  },
];

export const FALLBACK: readonly Row[] = [
  {
    what: 'the origin’s page in place of the rendered one',
    request: get(BOT, '/broken'),
    expected: UNKEPT,
    shows: /detail=render_failed/,
  },
  {
    what: 'its redirect in that place',
    request: get(BOT, '/broken/moved'),
    expected: UNKEPT,
    shows: / 301 .*detail=render_failed/s,
  },
  {
    what: 'its file in that place',
    request: get(BOT, '/broken/file'),
    expected: UNKEPT,
    shows: /pdf.*detail=render_failed/s,
  },
  {
    what: 'its 304 in that place',
    request: get(BOT, '/broken', IF_CHANGED),
    expected: UNKEPT,
    shows: / 304 /,
  },
  {
    what: 'HEAD of a page that is not there',
    request: get(BOT, '/never').replace('GET', 'HEAD'),
    expected: UNKEPT,
    shows: / 200 .*fwd=uri-miss/s,
  },
];

export const PAGES: readonly Row[] = [
  {
    what: 'a page',
    request: get(BOT, '/stored'),
    expected: {
      private: ['cache-control: private, no-cache', OURS],
      vary: ['cache-control: public, max-age=3600', OURS],
      origin: [...SENT, 'vary: Accept-Encoding, User-Agent, Accept-Language'],
    },
    shows: /X-Render-Source: (?:rendered|cache)/,
  },
  {
    what: 'a page that was not ready',
    request: get(BOT, '/partial'),
    expected: ['cache-control: private, no-cache', OURS],
    shows: /detail=partial/,
  },
  {
    what: 'a page for one client',
    request: get(BOT, '/mine'),
    expected: UNKEPT,
    shows: /detail=set_cookie/,
  },
  {
    what: 'a failing page',
    request: get(BOT, '/503'),
    expected: ['cache-control: private, no-cache', OURS],
    shows: / 503 .*X-Render-Source: (?:rendered|cache)/s,
  },
];

export const KEPT_BEFORE: readonly Row[] = [
  { what: 'HTML', request: get(HUMAN, '/page'), expected: PEOPLE, shows: / 200 / },
  { what: 'a 304', request: get(HUMAN, '/page', IF_CHANGED), expected: PEOPLE, shows: / 304 / },
  {
    what: 'HEAD',
    request: get(HUMAN, '/page').replace('GET', 'HEAD'),
    expected: PEOPLE,
    shows: / 200 /,
  },
  {
    what: 'a part',
    request: get(HUMAN, '/page', ['Range: bytes=0-1']),
    expected: PEOPLE,
    shows: / 206 /,
  },
  { what: 'a style sheet', request: get(HUMAN, '/a.css'), expected: AS_SENT, shows: /text\/css/ },
  {
    what: 'a 304 of a style sheet',
    request: get(HUMAN, '/a.css', IF_CHANGED),
    expected: AS_SENT,
    shows: / 304 /,
  },
  { what: 'JSON', request: get(HUMAN, '/json'), expected: AS_SENT, shows: /json/ },
  {
    what: 'a 304 of JSON',
    request: get(HUMAN, '/json', IF_CHANGED),
    expected: AS_SENT,
    shows: / 304 /,
  },
  { what: 'HTML by rule', request: get(HUMAN, '/app/'), expected: AS_SENT, shows: / 200 / },
];

/** A request in the plainest spelling. */
export function get(userAgent: string, target: string, fields: readonly string[] = []): string {
  const lines = [`GET ${target} HTTP/1.1`, 'Host: site.test', `User-Agent: ${userAgent}`];
  return `${[...lines, ...fields].join('\r\n')}\r\n\r\n`;
}
