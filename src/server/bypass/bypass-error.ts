// Why a request could not be passed on, in the words of RFC 9209 §2.3, with the status each has.
// The detail names inner addresses and stays inside.
import {
  CUT_BEHIND_HEAD,
  detailOf,
  isOriginFailure,
  nameOriginFailure,
  type OriginFailure,
  statusOfOriginFailure,
} from '../../core/http/origin-failure.ts';

export type BypassErrorType = OriginFailure | keyof typeof OTHER_STATUSES;

/** What is not the origin's failure. */
const OTHER_STATUSES = {
  client_left: 499,
  http_request_error: 413,
  proxy_loop_detected: 508,
} as const;

/** The one error of bypass: what it is, what the client gets, what the log gets. */
export class BypassError extends Error {
  readonly type: BypassErrorType;
  readonly status: number;

  constructor(type: BypassErrorType, detail: string) {
    super(detail);
    this.name = 'BypassError';
    this.type = type;
    this.status = isOriginFailure(type) ? statusOfOriginFailure(type) : OTHER_STATUSES[type];
  }
}

/** An answer whose head has gone to the client already, with its own status. */
export function cutBehindHead(): BypassError {
  return new BypassError(CUT_BEHIND_HEAD.error, CUT_BEHIND_HEAD.detail);
}

/** Names what Node's client reports. */
export function toBypassError(error: Error & { readonly code?: string }): BypassError {
  if (error instanceof BypassError) return error;
  return new BypassError(nameOriginFailure(error.code ?? ''), detailOf(error));
}
