// What a client is told when the page could not be got: status and `Proxy-Status` (RFC 9209),
// without any inner address.
import { isOriginFailure, type OriginFailure, statusOfOriginFailure } from './origin-failure.ts';
import { formatItem } from './structured-field.ts';

/** The failures a page source reports; the same words as in logs and metrics. */
export type FetchFailure = OriginFailure | OwnFailure;

/** What went wrong on our side of the origin. */
type OwnFailure =
  | 'no_renderer'
  | 'renderer_full'
  | 'render_timeout'
  | 'render_failed'
  | 'too_large'
  | 'wait_timeout'
  | 'loop';

export interface FailureAnswer {
  readonly status: 502 | 503 | 504 | 508;
  /** Error type of RFC 9209 §2.3. */
  readonly error: string;
}

const ANSWERS: Readonly<Record<OwnFailure, FailureAnswer>> = {
  no_renderer: { status: 503, error: 'destination_unavailable' },
  renderer_full: { status: 503, error: 'connection_limit_reached' },
  render_timeout: { status: 503, error: 'http_response_timeout' },
  render_failed: { status: 503, error: 'proxy_internal_error' },
  wait_timeout: { status: 503, error: 'http_response_timeout' },
  too_large: { status: 502, error: 'http_response_body_size' },
  loop: { status: 508, error: 'proxy_loop_detected' },
};

/** Whether a text from outside is one of the failures. */
export function isFetchFailure(text: string | null): text is FetchFailure {
  return text !== null && (isOriginFailure(text) || Object.hasOwn(ANSWERS, text));
}

/** Status and error type for a failure. */
export function answerForFailure(reason: FetchFailure): FailureAnswer {
  if (!isOriginFailure(reason)) return ANSWERS[reason];
  return { status: statusOfOriginFailure(reason), error: reason };
}

/** `edge-gateway; error=http_response_timeout; details="render_timeout"` */
export function formatProxyStatus(reason: FetchFailure): string {
  const { error } = answerForFailure(reason);
  return formatItem('edge-gateway', [
    ['error', { token: error }],
    ...(error === reason ? [] : ([['details', reason]] as const)),
  ]);
}
