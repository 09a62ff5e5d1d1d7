// From an error of the HTTP client to the failure it stands for. The detail is for the log, in the
// same form as that of requests that are passed on by the plain way.
import {
  detailOf,
  nameOriginFailure,
  type OriginFailure,
} from '../../../core/http/origin-failure.ts';
import type { FetchFailure } from '../../../pipeline/ports.ts';
import { BodyTooLarge } from './read-body.ts';
import { PageRefused } from './read-page.ts';

export interface FillFailure {
  readonly reason: FetchFailure;
  readonly detail: string;
}

/** What a failure is once an answer has begun; what is not here is one that can't be read. */
const ANSWERED: Readonly<Partial<Record<OriginFailure, OriginFailure>>> = {
  connection_terminated: 'http_response_incomplete',
  http_response_header_section_size: 'http_response_header_section_size',
  http_response_timeout: 'http_response_timeout',
};

/**
 * @param begun a first byte of the answer had arrived
 * @param isLate the deadline or the caller ended it
 */
export function classifyFailure(error: unknown, begun: boolean, isLate: boolean): FillFailure {
  if (error instanceof PageRefused) return { reason: error.reason, detail: error.message };
  if (error instanceof BodyTooLarge) return { reason: 'too_large', detail: 'body' };
  const code = codeOf(error);
  // A request we built wrongly is our own bug, not the origin's failure.
  if (code === 'UND_ERR_INVALID_ARG') throw error;
  const detail = error instanceof Error ? detailOf(error) : code;
  if (isLate) return { reason: 'http_response_timeout', detail };
  const reason = nameOriginFailure(code);
  return { reason: begun ? (ANSWERED[reason] ?? 'http_protocol_error') : reason, detail };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
