// One request passed on for an answer that may be kept: what it is sent for, what it opens with,
// and how it ends.
import type { UnsharedReason } from '../../core/http/shared-cache/judge-answer.ts';
import type { Peer } from '../origin-ports.ts';
import type { Keyed } from '../state.ts';
import type { PassedOn } from './deliver-exchange.ts';
import type { ExchangeEnd, FailedExchange } from './exchange-end.ts';
import type { ExchangeEntry, FoundExchange } from './find-exchange.ts';

export interface Errand {
  readonly keyed: Keyed;
  readonly peer: Peer;
  /** Asked about, so that the origin may say that it still is the one. */
  readonly previous: FoundExchange | null;
  /** false: the store could not be asked. */
  readonly mayStore: boolean;
}

/** What the one who asked gets. */
export type Arrival =
  | {
      readonly kind: 'answer';
      readonly answer: PassedOn;
      /** null: it is kept, if it fits. */
      readonly unshared: UnsharedReason | 'unframed' | 'too_large' | null;
      /** Whether it is known to fit; what comes in chunks tells its length in the end. */
      readonly isOfKnownLength: boolean;
      /** Nobody else may have it without asking the origin. */
      readonly isForOne: boolean;
      readonly originUrl: string;
    }
  /** A 304: the stored answer, with what it brought. */
  | {
      readonly kind: 'renewed';
      readonly entry: ExchangeEntry;
      readonly body: Buffer;
      readonly isStored: boolean;
      readonly originUrl: string;
    }
  | FailedExchange;

export interface OpenExchange {
  readonly arrival: Arrival;
  /** For who waits for it here: as soon as it is whole, and a moment later at most. */
  readonly end: Promise<ExchangeEnd>;
  /** The same when nothing is left to be done for the store. */
  readonly kept: Promise<ExchangeEnd>;
}

/** Nothing is left to be done. */
export function ended(arrival: Arrival, end: ExchangeEnd): OpenExchange {
  return { arrival, end: Promise.resolve(end), kept: Promise.resolve(end) };
}
