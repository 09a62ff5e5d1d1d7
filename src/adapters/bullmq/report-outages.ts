// Says once that the queue can't be reached, and once that it can again.
import { describeRedisError } from '../../core/redis-error.ts';
import type { QueueClient } from './open-clients.ts';

export type QueueWarning =
  | { readonly kind: 'refresh_queue_unavailable'; readonly reason: string }
  | { readonly kind: 'refresh_queue_recovered' };

export interface Outages {
  /** One word for what a command failed of. */
  readonly describe: (error: unknown) => string;
  /** For errors that another client tells of as well. */
  readonly ignore: (error: unknown) => void;
  /** From now on nothing is said. */
  readonly close: () => void;
}

export function reportOutages(
  client: QueueClient,
  onWarning: (warning: QueueWarning) => void,
): Outages {
  let isDown = false;
  let isClosed = false;
  const goDown = (reason: string): void => {
    if (isDown || isClosed) return;
    isDown = true;
    onWarning({ kind: 'refresh_queue_unavailable', reason });
  };
  client.on('error', (error: unknown) => goDown(describeRedisError(error)));
  client.on('close', () => goDown('disconnected'));
  client.on('ready', () => {
    if (isDown && !isClosed) onWarning({ kind: 'refresh_queue_recovered' });
    isDown = false;
  });
  return {
    describe: describeRedisError,
    ignore: () => undefined,
    close: () => {
      isClosed = true;
    },
  };
}
