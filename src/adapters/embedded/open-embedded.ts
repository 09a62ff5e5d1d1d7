// What the embedded stores share: one lmdb environment, and one memory of its outages for reads and
// one for writes, so that trouble is told once whichever store meets it.
import { join } from 'node:path';
import type { Clock } from '../../pipeline/ports.ts';
import { type Attempt, createAttempt } from './attempt.ts';
import { type Environment, openEnvironment, type SetAside } from './open-environment.ts';

export type EmbeddedWarning =
  | ({ readonly kind: 'store_set_aside' } & SetAside)
  /** Reads or writes fail from now on; said once until one works again. */
  | { readonly kind: 'store_failing'; readonly on: StoreAccess; readonly reason: string }
  | { readonly kind: 'store_recovered'; readonly on: StoreAccess };

export type StoreAccess = 'read' | 'write';

export interface EmbeddedStoreOptions {
  /** `storage.base_path`; the store is its `store` folder. */
  readonly basePath: string;
  readonly clock: Clock;
  readonly onWarning: (warning: EmbeddedWarning) => void;
}

export interface Embedded {
  readonly environment: Environment;
  readonly read: Attempt;
  readonly write: Attempt;
  readonly clock: Clock;
}

/**
 * Opens the environment.
 *
 * @throws StoreOpenError when it can't be opened, with what to do about it
 */
export function openEmbedded({ basePath, clock, onWarning }: EmbeddedStoreOptions): Embedded {
  const environment = openEnvironment(join(basePath, 'store'), (event) =>
    onWarning({ kind: 'store_set_aside', ...event }),
  );
  const attempts = (on: StoreAccess): Attempt =>
    createAttempt(clock, {
      onFailing: (reason) => onWarning({ kind: 'store_failing', on, reason }),
      onRecovered: () => onWarning({ kind: 'store_recovered', on }),
    });
  return { environment, read: attempts('read'), write: attempts('write'), clock };
}
