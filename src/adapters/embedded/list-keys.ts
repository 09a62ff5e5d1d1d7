// Walks a range of keys in slices, each in a turn of its own, tolerating concurrent change.
import { setImmediate as yieldTurn } from 'node:timers/promises';
import type { Done } from '../../pipeline/ports.ts';
import type { Attempt } from './attempt.ts';
import type { Environment } from './open-environment.ts';

export interface KeyRange {
  readonly start: string;
  /** Not in it. */
  readonly end: string;
}

/** All keys of a range; a slice that is `unavailable` is the last. */
export async function* listKeys(
  environment: Environment,
  { start, end }: KeyRange,
  { read, limit }: { readonly read: Attempt; readonly limit: number },
): AsyncGenerator<Done<readonly string[]>> {
  let last: string | undefined;
  for (;;) {
    const range = { start: last ?? start, end, exclusiveStart: last !== undefined, limit };
    const slice = await read(
      async (): Promise<Done<readonly string[]>> => ({
        state: 'done',
        value: [...environment.getKeys(range)],
      }),
    );
    if (slice.state === 'unavailable' || slice.value.length > 0) yield slice;
    if (slice.state === 'unavailable' || slice.value.length < limit) return;
    last = slice.value.at(-1);
    await yieldTurn();
  }
}

/** Every key that begins with this prefix, which ends in ':'; ';' is the next character. */
export function rangeOfPrefix(prefix: string): KeyRange {
  return { start: prefix, end: `${prefix.slice(0, -1)};` };
}
