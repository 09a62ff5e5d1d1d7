// Where a body ends must have one reading (RFC 9112 §6.3). llhttp accepts codings before `chunked`
// and Transfer-Encoding in HTTP/1.0; both are refused here, so that nobody behind us can read the
// same bytes differently.
import { fieldValues, type RawHeaders } from '../../core/http/hop-headers.ts';
import type { RefusalReason } from './refusals.ts';

/** Why the framing is refused, or null. */
export function checkFraming(raw: RawHeaders, httpVersion: string): RefusalReason | null {
  const codings = fieldValues(raw, 'transfer-encoding');
  const lengths = fieldValues(raw, 'content-length');
  if (lengths.length > 1) return 'framing';
  if (lengths.some((length) => !/^\d{1,16}$/.test(length))) return 'framing';
  if (codings.length === 0) return null;
  if (codings.length > 1 || lengths.length > 0 || httpVersion === '1.0') return 'framing';
  return codings[0]?.trim().toLowerCase() === 'chunked' ? null : 'transfer_coding';
}
