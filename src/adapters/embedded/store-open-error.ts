// Why the embedded store cannot be opened, in words that say what to do. Start-up prints the
// message and stops: a gateway that could not store would only look healthy.

export type StoreOpenCode =
  | 'store_not_writable'
  | 'store_disk_full'
  | 'store_other_version'
  | 'store_not_openable';

/** The embedded store cannot be opened; `message` is one line for the operator. */
export class StoreOpenError extends Error {
  readonly code: StoreOpenCode;

  constructor(code: StoreOpenCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreOpenError';
    this.code = code;
  }
}
