// The page's document: its answer's head, and every attempt to put another one in its place.
// Redirects are captured, never followed: those of the server, and those of scripts and `meta
// refresh` alike. history.pushState makes no request and so is none.
import { dropNeverFilled } from '../../core/http/filter-headers.ts';
import { firstHeader, type HeaderList } from '../../core/http/header-list.ts';
import { encodeLatin1Location, publishLocation } from '../../core/http/location.ts';
import type { RenderErrorCode } from '../../core/http/render-answer.ts';
import { RENDER_LIMITS } from '../limits.ts';
import type { RenderHost } from '../options.ts';
import type { MainDocument, PausedAnswer, PausedVerdict } from '../requests/intercept-requests.ts';

/** What ends a render before the page is ready. */
export type Ending =
  | {
      readonly kind: 'redirect';
      readonly status: number;
      readonly location: string;
      readonly headers: HeaderList;
    }
  /** A script or `meta refresh` leaves the page. */
  | { readonly kind: 'left'; readonly location: string }
  | { readonly kind: 'failed'; readonly code: RenderErrorCode; readonly message: string };

export interface MainDocumentOptions {
  /** As asked for. */
  readonly url: string;
  /** Sent with the page's own request. */
  readonly headers: HeaderList;
  readonly host: RenderHost;
  readonly isOwnHost: (name: string) => boolean;
  readonly end: (ending: Ending) => void;
}

export interface WatchedDocument extends MainDocument {
  /** The head of the page's answer, once it is there. */
  readonly answer: () => PausedAnswer | null;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const WITHOUT_PAGE: ReadonlySet<number> = new Set([204, 205, 206, 304]);
const HTML = /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;

export function watchMainDocument(options: MainDocumentOptions): WatchedDocument {
  let answer: PausedAnswer | null = null;
  let reloads = 0;
  const pageUrl = withoutFragment(options.url);
  const goOn: PausedVerdict = { action: 'continue', headers: [] };
  const abort: PausedVerdict = { action: 'abort' };
  const withHeaders: PausedVerdict = {
    action: 'continue',
    headers: dropNeverFilled(options.headers),
  };
  const fail = (code: RenderErrorCode, message: string): PausedVerdict => {
    options.end({ kind: 'failed', code, message });
    return abort;
  };
  const leave = (location: string): PausedVerdict => {
    if (location.length > RENDER_LIMITS.textCharsMax) return fail('refused', 'left for a long URL');
    options.end({ kind: 'left', location });
    return abort;
  };
  const redirect = ({ status, headers }: PausedAnswer, target: string): PausedVerdict => {
    const location = encodeLatin1Location(target);
    if (location === null || location.length > RENDER_LIMITS.textCharsMax) {
      return fail('refused', 'a Location that cannot be written');
    }
    const published = publishLocation(
      location,
      innerAddresses(options.host),
      publicOrigin(pageUrl),
    );
    options.end({ kind: 'redirect', status, location: published, headers });
    return abort;
  };

  return {
    answer: () => answer,
    onRequest: ({ url, method }) => {
      if (answer === null) return withHeaders;
      // A form that sends itself is no link a crawler could follow.
      if (method !== 'GET') return abort;
      if (withoutFragment(url) === pageUrl) {
        reloads += 1;
        const isLoop = reloads > RENDER_LIMITS.reloadsMax;
        return isLoop ? fail('loop', 'the page loads itself without end') : withHeaders;
      }
      // Only the answer tells a download from a page; other people's servers are not asked.
      return options.isOwnHost(hostOf(url)) ? goOn : leave(url);
    },
    onAnswer: (paused) => {
      const { url, status, headers } = paused;
      if (withoutFragment(url) !== pageUrl) {
        return WITHOUT_PAGE.has(status) || isDownload(headers) ? abort : leave(url);
      }
      const location = firstHeader(headers, 'location');
      if (REDIRECTS.has(status) && location !== null) return redirect(paused, location);
      if (status === LOOP_DETECTED) return fail('loop', 'the origin found a loop');
      if (WITHOUT_PAGE.has(status)) return fail('refused', `status ${status} has no page`);
      const type = firstHeader(headers, 'content-type');
      if (isDownload(headers) || (type !== null && !HTML.test(type))) {
        return fail('refused', `not a page: ${type ?? 'download'}`);
      }
      answer = paused;
      return goOn;
    },
  };
}

const LOOP_DETECTED = 508;

function isDownload(headers: HeaderList): boolean {
  return /^\s*attachment/i.test(firstHeader(headers, 'content-disposition') ?? '');
}

/** What the origin may call itself in a Location, not knowing its public name. */
function innerAddresses(host: RenderHost): readonly string[] {
  const own = host.origins.map((origin) => origin.url);
  const header = host.originHostHeader;
  return header === null ? own : [...own, `http://${header}`, `https://${header}`];
}

function publicOrigin(url: string): string {
  return /^[a-z]+:\/\/[^/?#]+/i.exec(url)?.[0] ?? '';
}

function withoutFragment(url: string): string {
  const hash = url.indexOf('#');
  const plain = hash === -1 ? url : url.slice(0, hash);
  // One spelling for both sides of the comparison: Chromium's own.
  return URL.canParse(plain) ? new URL(plain).href : plain;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : '';
}
