// Why a request could not be passed on, in the words of RFC 9209 §2.3, with the status each has.
// The detail names inner addresses and stays inside.

export type BypassErrorType =
  | 'client_left'
  | 'connection_refused'
  | 'connection_terminated'
  | 'connection_timeout'
  | 'destination_unavailable'
  | 'dns_error'
  | 'http_protocol_error'
  | 'http_request_error'
  | 'http_response_header_section_size'
  | 'http_response_incomplete'
  | 'http_response_timeout'
  | 'proxy_loop_detected'
  | 'tls_certificate_error'
  | 'tls_protocol_error';

const STATUSES: Readonly<Partial<Record<BypassErrorType, number>>> = {
  client_left: 499,
  connection_timeout: 504,
  http_request_error: 413,
  http_response_timeout: 504,
  proxy_loop_detected: 508,
};

const BAD_GATEWAY = 502;

const TYPES_BY_CODE: Readonly<Record<string, BypassErrorType>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_terminated',
  EPIPE: 'connection_terminated',
  ETIMEDOUT: 'connection_timeout',
  EHOSTUNREACH: 'destination_unavailable',
  ENETUNREACH: 'destination_unavailable',
  EADDRNOTAVAIL: 'destination_unavailable',
  ENOTFOUND: 'dns_error',
  EAI_AGAIN: 'dns_error',
  HPE_HEADER_OVERFLOW: 'http_response_header_section_size',
};

const CERTIFICATE_CODES =
  /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|HOSTNAME_MISMATCH)/;

/** The one error of bypass: what it is, what the client gets, what the log gets. */
export class BypassError extends Error {
  readonly type: BypassErrorType;
  readonly status: number;

  constructor(type: BypassErrorType, detail: string) {
    super(detail);
    this.name = 'BypassError';
    this.type = type;
    this.status = STATUSES[type] ?? BAD_GATEWAY;
  }
}

/** Names what Node's client reports. */
export function toBypassError(error: Error & { readonly code?: string }): BypassError {
  if (error instanceof BypassError) return error;
  const code = error.code ?? '';
  const detail = code === '' ? error.message : `${code}: ${error.message}`;
  return new BypassError(typeOf(code), detail);
}

function typeOf(code: string): BypassErrorType {
  const known = TYPES_BY_CODE[code];
  if (known !== undefined) return known;
  if (code.startsWith('HPE_')) return 'http_protocol_error';
  if (CERTIFICATE_CODES.test(code)) return 'tls_certificate_error';
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS') || code === 'EPROTO') {
    return 'tls_protocol_error';
  }
  return 'destination_unavailable';
}
