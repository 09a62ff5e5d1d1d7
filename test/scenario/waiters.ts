// How a test knows that requests wait for one fetch: as soon as one more than may wait is refused,
// all the others are in.
import { waitUntil } from '../helpers/wait-until.ts';
import type { Reply } from './stage.ts';

/** Lines of edge-gateway.yaml: so many may wait for one fetch, beside the one who asks. */
export const limitWaiters = (count: number): string =>
  `server:\n  limits: {waiters_per_key: ${count}}\n`;

/** Resolves when so many have been refused. */
export async function untilRefused(
  replies: readonly Promise<Reply>[],
  count: number,
): Promise<void> {
  let refused = 0;
  for (const reply of replies) {
    void reply.then(({ status }) => {
      if (status === 503) refused += 1;
    });
  }
  await waitUntil(`${count} are refused`, () => refused === count);
}

/** The answers to all who were not refused. */
export async function served(replies: readonly Promise<Reply>[]): Promise<readonly Reply[]> {
  return (await Promise.all(replies)).filter(({ status }) => status !== 503);
}
