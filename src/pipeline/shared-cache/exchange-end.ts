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

/** What those get who waited. */
export type ExchangeEnd =
  | { readonly kind: 'shared'; readonly shared: SharedExchange }
  | { readonly kind: 'unshared' }
  | FailedExchange;
