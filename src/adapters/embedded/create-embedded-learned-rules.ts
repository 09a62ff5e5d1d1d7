// The LearnedRules port on lmdb. A word that changes with every write tells each process, in one
// look into mapped memory, whether what it knows is what is stored.
import { randomUUID } from 'node:crypto';
import {
  decodeLearned,
  encodeLearned,
  findRoom,
  type LearnedRule,
  type LearnedTable,
  learnedName,
} from '../../core/learned/learned-rule.ts';
import type { Done, LearnedRules } from '../../pipeline/ports.ts';
import { rangeOfPrefix } from './list-keys.ts';
import type { Embedded } from './open-embedded.ts';
import type { Environment } from './open-environment.ts';

const PREFIX = 'learned:';
const STATE_KEY = 'learned-state';
const DONE: Done<void> = { state: 'done', value: undefined };

/** Makes the learned rules of an environment, which its opener closes. */
export function createEmbeddedLearnedRules({ environment, read, write }: Embedded): LearnedRules {
  let known: Known = { state: undefined, texts: new Map(), table: new Map() };

  function catchUp(): LearnedTable {
    const state = environment.get(STATE_KEY);
    if (state !== known.state) known = readAll(environment, state, known);
    return known.table;
  }

  async function commit(make: () => void): Promise<Done<void>> {
    await environment.transaction(() => {
      // What fails inside makes the whole transaction fail.
      make();
      void environment.put(STATE_KEY, randomUUID());
    });
    return DONE;
  }

  return {
    current: () => {
      try {
        return catchUp();
      } catch {
        // What can't be read is told by those who read pages; the last that was known still serves.
        return known.table;
      }
    },
    refresh: async () =>
      await read(async () => {
        catchUp();
        return DONE;
      }),
    learn: async (rule) =>
      await write(async () => {
        const leaving = findRoom(catchUp(), rule);
        if (leaving === null) return DONE;
        return await commit(() => {
          for (const name of leaving) void environment.remove(PREFIX + name);
          void environment.put(keyOf(rule), encodeLearned(rule));
        });
      }),
    forget: async (hostId, address) =>
      await write(() => commit(() => void environment.remove(keyOf({ hostId, address })))),
  };
}

interface Known {
  readonly state: string | undefined;
  readonly texts: ReadonlyMap<string, string>;
  readonly table: LearnedTable;
}

function keyOf({ hostId, address }: Pick<LearnedRule, 'hostId' | 'address'>): string {
  return PREFIX + learnedName(hostId, address);
}

/** Only what has changed is decoded anew. */
function readAll(environment: Environment, state: string | undefined, before: Known): Known {
  const texts = new Map<string, string>();
  const table = new Map<string, LearnedRule>();
  for (const { key, value } of environment.getRange(rangeOfPrefix(PREFIX))) {
    const name = key.slice(PREFIX.length);
    const isSame = before.texts.get(name) === value;
    const rule = (isSame ? before.table.get(name) : undefined) ?? decodeLearned(name, value);
    texts.set(name, value);
    if (rule !== null) table.set(name, rule);
  }
  return { state, texts, table };
}
