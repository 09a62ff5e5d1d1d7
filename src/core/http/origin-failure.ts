// How an origin fails a request, in the words of RFC 9209 §2.3: the same for what is passed on from
// socket to socket, for what is kept of it, and for pages; in answers, log and metrics.
import type { OriginHealth } from './pick-upstream.ts';

const STATUSES = {
  connection_refused: 502,
  connection_terminated: 502,
  connection_timeout: 504,
  destination_unavailable: 502,
  dns_error: 502,
  http_protocol_error: 502,
  http_response_header_section_size: 502,
  http_response_incomplete: 502,
  http_response_timeout: 504,
  tls_certificate_error: 502,
  tls_protocol_error: 502,
} as const;

export type OriginFailure = keyof typeof STATUSES;

const FAILURES_BY_CODE: Readonly<Record<string, OriginFailure>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_terminated',
  EPIPE: 'connection_terminated',
  UND_ERR_SOCKET: 'connection_terminated',
  ETIMEDOUT: 'connection_timeout',
  UND_ERR_CONNECT_TIMEOUT: 'connection_timeout',
  EHOSTUNREACH: 'destination_unavailable',
  ENETUNREACH: 'destination_unavailable',
  EADDRNOTAVAIL: 'destination_unavailable',
  ENOTFOUND: 'dns_error',
  EAI_AGAIN: 'dns_error',
  HPE_HEADER_OVERFLOW: 'http_response_header_section_size',
  UND_ERR_HEADERS_OVERFLOW: 'http_response_header_section_size',
  UND_ERR_BODY_TIMEOUT: 'http_response_timeout',
  UND_ERR_HEADERS_TIMEOUT: 'http_response_timeout',
};

const CERTIFICATE_CODES =
  /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|HOSTNAME_MISMATCH)/;
const TLS_CODES = /^(?:ERR_SSL|ERR_TLS|EPROTO$)/;
const PROTOCOL_CODES = /^(?:HPE_|UND_ERR_RES_)/;

/** Failures of those who can't be reached, or do not say a word. */
const UNHEARD: ReadonlySet<string> = new Set<OriginFailure>([
  'connection_refused',
  'connection_terminated',
  'connection_timeout',
  'destination_unavailable',
  'dns_error',
  'tls_certificate_error',
  'tls_protocol_error',
]);

/** @param code of an error of the HTTP client, before anything was answered */
export function nameOriginFailure(code: string): OriginFailure {
  const known = FAILURES_BY_CODE[code];
  if (known !== undefined) return known;
  if (PROTOCOL_CODES.test(code)) return 'http_protocol_error';
  if (CERTIFICATE_CODES.test(code)) return 'tls_certificate_error';
  return TLS_CODES.test(code) ? 'tls_protocol_error' : 'destination_unavailable';
}

/** An answer that ended before it was whole, when its head had gone to the client already. */
export const CUT_BEHIND_HEAD = {
  error: 'http_response_incomplete',
  detail: 'cut off behind its head',
} as const;

/** What the log gets of an error of either HTTP client: the message may name inner addresses. */
export function detailOf({
  code,
  message,
}: {
  readonly code?: unknown;
  readonly message: string;
}): string {
  const known = typeof code === 'string' ? [code] : [];
  return [...known, message].filter((text) => text !== '').join(': ');
}

/** Whether a word is one of these. */
export function isOriginFailure(word: string): word is OriginFailure {
  return Object.hasOwn(STATUSES, word);
}

/** What a client gets for it. */
export function statusOfOriginFailure(failure: OriginFailure): 502 | 504 {
  return STATUSES[failure];
}

/** What it says of the origin: a slow answer is no sign of a dead one, nor of a live one. */
export function healthInFailure(word: string): OriginHealth {
  if (UNHEARD.has(word)) return 'failed';
  return word === 'http_response_timeout' ? 'busy' : 'ok';
}
