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
  /** null: another process has asked. */
  readonly originUrl: string | null;
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
  /** Nobody else may have it: who waited goes on alone when it is his turn. */
  | { readonly kind: 'unshared'; readonly takeTurn: () => Promise<void> }
  /**
   * `again`: another process has it, and it is not for who waited for it here. `late`: another
   * process takes too long.
   */
  | { readonly kind: 'again' | 'late' }
  | FailedExchange;

/** How many go on alone in one turn of the event loop. */
const STARTS_AT_ONCE = 16;

/**
 * Those who waited go on side by side, a few in each turn of the event loop: the first are on the
 * wire, and have their answers, while the last still get ready.
 */
export function unshared(): ExchangeEnd {
  const waiting: (() => void)[] = [];
  let free = STARTS_AT_ONCE;
  const startSome = (): void => {
    for (const start of waiting.splice(0, STARTS_AT_ONCE)) start();
    if (waiting.length > 0) setImmediate(startSome);
  };
  return {
    kind: 'unshared',
    takeTurn: async () => {
      free -= 1;
      if (free >= 0) return;
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 1) setImmediate(startSome);
      });
    },
  };
}
