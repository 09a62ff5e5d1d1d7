// What an operator is told of the stores: for the log by its kind and fields, for a person at a
// command as a sentence.
import type { EmbeddedWarning } from '../adapters/embedded/open-embedded.ts';
import type { FileWarning } from '../adapters/files/create-file-body-store.ts';
import type { RedisStoresWarning } from '../adapters/redis/connect-redis-stores.ts';
import type { PageStoreEvent } from '../pipeline/store/page-store-deps.ts';

export type StoreNotice =
  | EmbeddedWarning
  | FileWarning
  | RedisStoresWarning
  /** Of writes that a process did not live to end. */
  | { readonly kind: 'leftovers_removed'; readonly files: number };

/** One sentence, without a full stop. */
export function describeNotice(notice: StoreNotice | PageStoreEvent): string {
  switch (notice.kind) {
    case 'store_set_aside':
      return `the store was damaged (${notice.reason}); it is kept as ${notice.movedTo}`;
    case 'store_failing':
      return `the store can't be ${ACCESS[notice.on]}: ${notice.reason}`;
    case 'store_recovered':
      return `the store can be ${ACCESS[notice.on]} again`;
    case 'bodies_failing':
      return `the files of pages can't be written: ${notice.reason}`;
    case 'bodies_recovered':
      return 'the files of pages can be written again';
    case 'redis_unavailable':
      return `Redis at ${notice.server} can't be used for ${notice.use}: ${notice.reason}`;
    case 'redis_recovered':
      return `Redis at ${notice.server} can be used again`;
    case 'redis_evicts':
      return `Redis at ${notice.server} evicts by ${notice.policy}: ${notice.hint}`;
    case 'leftovers_removed':
      return `${notice.files} unfinished files were removed`;
    default:
      return describeEvent(notice);
  }
}

const ACCESS = { read: 'read', write: 'written' } as const;

function describeEvent(event: PageStoreEvent): string {
  switch (event.kind) {
    case 'collision':
      return `${event.key} belongs to another URL than ${event.url}`;
    case 'entry_damaged':
      return `the entry ${event.key} is damaged: ${event.reason}`;
    case 'body_damaged':
      return (
        `the body of ${event.url} (${event.key}) is damaged: ` +
        `${event.reason}${suffix(event.hint)}`
      );
    case 'entry_refused':
      return `the entry ${event.key} can't be stored: ${event.reason}`;
    case 'not_compressed':
      return `the body of ${event.key} could not be compressed: ${event.reason}`;
    case 'not_deleted':
      return `${event.key} could not be deleted: ${event.reason}`;
  }
}

function suffix(hint: string | undefined): string {
  return hint === undefined ? '' : `; ${hint}`;
}
