// The stores as they were opened, with every answer that is `unavailable` counted, whoever asked.
// What is asked of nobody (`isCurrent`, `isCaughtUp`, `current`) stays the store's own function: a
// hit in memory does not pay for this.
import type { StoreErrorSample } from '../adapters/telemetry/create-metrics.ts';
import type { BodyStore, Done, EntryStore, LearnedRules, PurgeLog } from '../pipeline/ports.ts';

/** What was asked of which store. */
type StoreQuestion = Pick<StoreErrorSample, 'store' | 'operation'>;

export type CountUnavailable = (question: StoreQuestion) => void;

/** All that pages are kept in. */
interface CountedStores {
  readonly entries: EntryStore;
  readonly bodies: BodyStore;
  readonly purgeLog: PurgeLog;
  readonly learned: LearnedRules;
}

export function countStoreErrors(stores: CountedStores, count: CountUnavailable): CountedStores {
  return {
    entries: countEntries(stores.entries, watch('entries', count)),
    bodies: countBodies(stores.bodies, watch('bodies', count)),
    purgeLog: countPurges(stores.purgeLog, watch('purge_log', count)),
    learned: countLearned(stores.learned, watch('learned_rules', count)),
  };
}

interface Watch {
  readonly answer: <T extends { readonly state: string }>(
    operation: StoreQuestion['operation'],
    answer: Promise<T>,
  ) => Promise<T>;
  /** A list that breaks off says so in its last part. */
  readonly list: <T>(parts: AsyncIterable<Done<T>>) => AsyncIterable<Done<T>>;
}

function watch(store: StoreQuestion['store'], count: CountUnavailable): Watch {
  return {
    answer: async (operation, answer) => {
      const given = await answer;
      if (given.state === 'unavailable') count({ store, operation });
      return given;
    },
    list: async function* list(parts) {
      for await (const part of parts) {
        if (part.state === 'unavailable') count({ store, operation: 'list' });
        yield part;
      }
    },
  };
}

function countEntries(entries: EntryStore, { answer, list }: Watch): EntryStore {
  return {
    ...entries,
    get: (key) => answer('read', entries.get(key)),
    has: (key) => answer('read', entries.has(key)),
    put: (key, entry, claim) => answer('write', entries.put(key, entry, claim)),
    replace: (key, previous, next) => answer('replace', entries.replace(key, previous, next)),
    delete: (key, text) => answer('delete', entries.delete(key, text)),
    deleteForeign: (key) => answer('delete', entries.deleteForeign(key)),
    claim: (key, mine) => answer('claim', entries.claim(key, mine)),
    release: (key, claim) => answer('claim', entries.release(key, claim)),
    keys: (filter) => list(entries.keys(filter)),
    entries: (filter) => list(entries.entries(filter)),
    dimensions: (hostId) => answer('list', entries.dimensions(hostId)),
    check: () => answer('check', entries.check()),
  };
}

function countBodies(bodies: BodyStore, { answer }: Watch): BodyStore {
  return {
    ...bodies,
    write: (ref, set, until) => answer('write', bodies.write(ref, set, until)),
    keepUntil: (ref, until) => answer('extend', bodies.keepUntil(ref, until)),
    forget: (ref, identity) => answer('delete', bodies.forget(ref, identity)),
    read: (ref, coding, digests) => answer('read', bodies.read(ref, coding, digests)),
    readAhead: (ref, codings) => {
      const read = bodies.readAhead(ref, codings);
      return (coding, digests) => answer('read', read(coding, digests));
    },
    delete: (ref) => answer('delete', bodies.delete(ref)),
    check: () => answer('check', bodies.check()),
  };
}

function countPurges(log: PurgeLog, { answer }: Watch): PurgeLog {
  return {
    ...log,
    append: (order) => answer('write', log.append(order)),
    readAfter: (seq) => answer('read', log.readAfter(seq)),
  };
}

function countLearned(learned: LearnedRules, { answer }: Watch): LearnedRules {
  return {
    ...learned,
    refresh: () => answer('read', learned.refresh()),
    learn: (rule) => answer('write', learned.learn(rule)),
    forget: (hostId, address) => answer('delete', learned.forget(hostId, address)),
  };
}
