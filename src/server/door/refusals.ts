// Why the door turns a request away, and what the client is told. The reasons are at once metric
// labels and log words; the text says no more than the status does.

export type RefusalReason =
  | 'request_line'
  | 'malformed'
  | 'version'
  | 'method'
  | 'unknown_method'
  | 'host_missing'
  | 'host_repeated'
  | 'host_malformed'
  | 'transfer_coding'
  | 'framing'
  | 'header_fields'
  | 'header_bytes'
  | 'target_form'
  | 'target_bytes'
  | 'target_length'
  | 'expectation'
  | 'chunk_extensions'
  | 'headers_timeout'
  | 'body_timeout';

const STATUSES: Readonly<Record<RefusalReason, number>> = {
  request_line: 400,
  malformed: 400,
  version: 505,
  method: 405,
  unknown_method: 501,
  host_missing: 400,
  host_repeated: 400,
  host_malformed: 400,
  transfer_coding: 501,
  framing: 400,
  header_fields: 431,
  header_bytes: 431,
  target_form: 400,
  target_bytes: 400,
  target_length: 414,
  expectation: 417,
  chunk_extensions: 413,
  headers_timeout: 408,
  body_timeout: 408,
};

/** The status a refusal is answered with. */
export function refusalStatus(reason: RefusalReason): number {
  return STATUSES[reason];
}

/** The whole body of a refusal: the reason word, for whoever debugs a client. */
export function refusalText(reason: RefusalReason): string {
  return `Request refused: ${reason}\n`;
}
