// The contract's answer from what was seen: bounded, and made only of what the contract can carry.
import { type HeaderList, isFieldName, isFieldValue } from '../../core/http/header-list.ts';
import type { RenderAnswer, RenderErrorCode, RenderHead } from '../../core/http/render-answer.ts';
import { RENDER_LIMITS } from '../limits.ts';

const EMPTY_HTML = new Uint8Array(0);

/** A page, whole or partial. */
export function buildPageAnswer(
  head: Pick<RenderHead, 'outcome' | 'status' | 'final_url' | 'headers' | 'timings'> & {
    readonly consoleErrors: readonly string[];
    readonly pending: readonly string[];
  },
  html: Uint8Array,
): RenderAnswer {
  const { consoleErrors, pending, ...rest } = head;
  const notes = pending
    .slice(0, RENDER_LIMITS.pendingRequestsMax)
    .map((url) => url.slice(0, RENDER_LIMITS.noteCharsMax));
  const full: RenderHead = {
    ...rest,
    headers: keepHeaders(head.headers),
    location: null,
    pending_requests: notes,
    console_errors: consoleErrors,
    error: null,
  };
  return { head: full, html };
}

/** A redirect of the server or of the page. */
export function buildRedirectAnswer(
  redirect: { readonly status: number; readonly location: string; readonly headers: HeaderList },
  timings: RenderHead['timings'],
): RenderAnswer {
  const head: RenderHead = {
    outcome: 'redirect',
    status: redirect.status,
    final_url: null,
    location: redirect.location,
    headers: keepHeaders(redirect.headers),
    timings,
    pending_requests: [],
    console_errors: [],
    error: null,
  };
  return { head, html: EMPTY_HTML };
}

/** A render that gave no page. */
export function buildFailedAnswer(
  failure: { readonly code: RenderErrorCode; readonly message: string },
  timings: RenderHead['timings'] = {},
): RenderAnswer {
  const message = failure.message.slice(0, RENDER_LIMITS.noteCharsMax);
  const head: RenderHead = {
    outcome: 'failed',
    status: 0,
    final_url: null,
    location: null,
    headers: [],
    timings,
    pending_requests: [],
    console_errors: [],
    error: { code: failure.code, message },
  };
  return { head, html: EMPTY_HTML };
}

/** Cookies were set for the render's own empty browser and are nobody else's. */
function keepHeaders(headers: HeaderList): HeaderList {
  const kept: (readonly [string, string])[] = [];
  let bytes = 0;
  for (const [name, value] of headers) {
    if (!isFieldName(name) || !isFieldValue(value) || /^set-cookie2?$/i.test(name)) continue;
    if (value.length > RENDER_LIMITS.textCharsMax) continue;
    bytes += name.length + value.length;
    const isFull = kept.length === RENDER_LIMITS.headersMax;
    if (isFull || bytes > RENDER_LIMITS.headerBytesMax) break;
    kept.push([name, value]);
  }
  return kept;
}
