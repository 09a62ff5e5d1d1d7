// What comes of a request that was passed on for an answer that others may have.
import type { KeptAnswer } from '../../core/http/shared-cache/judge-answer.ts';
import type { FetchFailure, HeaderList } from '../ports.ts';

/** An answer that may be shared, whole. */
export interface SharedExchange {
  readonly status: number;
  readonly kept: KeptAnswer;
  /** The request fields it was chosen by. */
  readonly selecting: HeaderList;
  readonly body: Buffer;
  /** Where the purge log ended when the request began. */
  readonly since: number;
}

export interface FailedExchange {
  readonly kind: 'failed';
  readonly reason: FetchFailure;
  readonly detail: string;
}

export interface SharedEnd {
  readonly kind: 'shared';
  readonly shared: SharedExchange;
  /** The other processes find it in the store. */
  readonly isStored: boolean;
}

/** What those get who waited. */
export type ExchangeEnd =
  | SharedEnd
  /**
   * `unshared`: nobody else may have it. `again`: another process has it, and it is not for who
   * waited for it here. `late`: another process takes too long.
   */
  | { readonly kind: 'unshared' | 'again' | 'late' }
  | FailedExchange;
