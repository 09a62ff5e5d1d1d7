// From an error of the HTTP client to the failure it stands for. The detail is the error's code:
// its message holds inner addresses.
import type { FetchFailure } from '../../../pipeline/ports.ts';
import { BodyTooLarge } from './read-body.ts';
import { PageRefused } from './read-page.ts';

export interface FillFailure {
  readonly reason: FetchFailure;
  readonly detail: string;
}

/** Codes for answers that came and could not be read. */
const INVALID = /^(HPE_|UND_ERR_HEADERS_OVERFLOW$|UND_ERR_RES_)/;

/**
 * @param begun a first byte of the answer had arrived
 * @param isLate the deadline or the caller ended it
 */
export function classifyFailure(error: unknown, begun: boolean, isLate: boolean): FillFailure {
  if (error instanceof PageRefused) return { reason: error.reason, detail: error.message };
  if (error instanceof BodyTooLarge) return { reason: 'too_large', detail: 'body' };
  const detail = codeOf(error);
  // A request we built wrongly is our own bug, not the origin's failure.
  if (detail === 'UND_ERR_INVALID_ARG') throw error;
  if (isLate || detail === 'UND_ERR_BODY_TIMEOUT') return { reason: 'origin_timeout', detail };
  if (begun || INVALID.test(detail)) return { reason: 'origin_invalid', detail };
  return { reason: 'origin_unreachable', detail };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
