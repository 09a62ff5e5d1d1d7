// The PurgeLog port on lmdb, beside the entries. The version of one record is the end of the log: a
// process knows by one look into mapped memory whether there is anything new, and a purge is
// written on the condition that the end is still where it was.
import { randomUUID } from 'node:crypto';
import { decodePurge, encodePurge } from '../../core/purge/purge-codec.ts';
import {
  PURGE_KEPT_MS,
  PURGES_MAX,
  type PurgeOrder,
  type PurgeRecord,
} from '../../core/purge/purge-record.ts';
import type { Clock, Done, PurgeLog, PurgeNews } from '../../pipeline/ports.ts';
import type { Embedded } from './open-embedded.ts';
import { type Environment, renewView } from './open-environment.ts';

/** Its version is the end of the log, its value the place up to which records were dropped. */
const END_KEY = 'purge:end';
/** The name of the log: made with it, and the same for every process. */
const LIFE_KEY = 'purge:life';
/** Where none could be written, as on a full disk. */
const NAMELESS = '';
const RECORD_PREFIX = 'purge:record:';
/** Enough for every place that is an exact number; keys sort as the places do. */
const SEQ_DIGITS = 16;
/** Another process is faster now and then, never so often in a row. */
const ATTEMPTS_MAX = 100;

/** Makes the purge log of an environment; whoever opened that closes it. */
export function createEmbeddedPurgeLog({ environment, read, write, clock }: Embedded): PurgeLog {
  // Asked for with every hit, and never another once there is one.
  let named = NAMELESS;

  async function append(order: PurgeOrder): Promise<Done<PurgeRecord>> {
    return await write(async () => {
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
        const value = await tryAppend(environment, order, clock);
        if (value !== null) return { state: 'done', value };
      }
      return { state: 'unavailable', reason: 'others write purges all the time' };
    });
  }

  async function readAfter(seq: number): Promise<Done<PurgeNews>> {
    return await read(async () => {
      const life = await nameLife();
      renewView(environment);
      const { end, droppedTo } = readHead(environment);
      const records = [...environment.getRange({ start: keyOf(seq + 1), end: keyOf(end + 1) })];
      return {
        state: 'done',
        value: {
          end,
          droppedTo,
          records: records.map(({ key, value }) => toRecord(key, value)),
          life,
        },
      };
    });
  }

  async function nameLife(): Promise<string> {
    renewView(environment);
    if (readLife(environment) === NAMELESS) {
      await write(async () => {
        await environment.ifNoExists(LIFE_KEY, () => {
          void environment.put(LIFE_KEY, randomUUID(), 1);
        });
        return { state: 'done', value: undefined };
      });
      renewView(environment);
    }
    named = readLife(environment);
    return named;
  }

  function life(): string | null {
    if (named !== NAMELESS) return named;
    try {
      return readLife(environment);
    } catch {
      // As below.
      return null;
    }
  }

  function isCaughtUp(seq: number): boolean {
    try {
      renewView(environment);
      // Without a purge there is no such key.
      return seq === 0 ? !environment.doesExist(END_KEY) : environment.doesExist(END_KEY, seq);
    } catch {
      // What can't be read is read again, by the way that reports it.
      return false;
    }
  }

  // Nothing is heard of here: whoever needs to know looks.
  return { append, readAfter, isCaughtUp, life, onNews: () => undefined };
}

/** @returns null when another process has written a purge meanwhile */
async function tryAppend(
  environment: Environment,
  order: PurgeOrder,
  clock: Clock,
): Promise<PurgeRecord | null> {
  renewView(environment);
  const { end, droppedTo } = readHead(environment);
  const at = Math.floor(clock.now());
  const seq = end + 1;
  const oldSeqs = listOld(environment, { droppedTo, seq, at });
  // What is written here is one transaction, and none when the condition does not hold.
  const writeAll = (): void => {
    for (const old of oldSeqs) void environment.remove(keyOf(old));
    void environment.put(keyOf(seq), encodePurge(order, at), seq);
    void environment.put(END_KEY, String(oldSeqs.at(-1) ?? droppedTo), seq);
  };
  const isWritten =
    end === 0
      ? await environment.ifNoExists(END_KEY, writeAll)
      : await environment.ifVersion(END_KEY, end, writeAll);
  return isWritten ? { ...order, seq, at } : null;
}

interface Growth {
  readonly droppedTo: number;
  /** Of the record that comes. */
  readonly seq: number;
  readonly at: number;
}

/** The places that go: those beyond the number, and those beyond the time. */
function listOld(environment: Environment, { droppedTo, seq, at }: Growth): readonly number[] {
  const old: number[] = [];
  const range = { start: keyOf(droppedTo + 1), end: keyOf(seq) };
  for (const { key, value } of environment.getRange(range)) {
    const record = toRecord(key, value);
    if (record.seq > seq - PURGES_MAX && record.at >= at - PURGE_KEPT_MS) break;
    old.push(record.seq);
  }
  return old;
}

function readLife(environment: Environment): string {
  return environment.get(LIFE_KEY) ?? NAMELESS;
}

function readHead(environment: Environment): Pick<PurgeNews, 'end' | 'droppedTo'> {
  const head = environment.getEntry(END_KEY);
  return { end: head?.version ?? 0, droppedTo: Number(head?.value ?? 0) };
}

function toRecord(key: string, text: string): PurgeRecord {
  return decodePurge(Number(key.slice(RECORD_PREFIX.length)), text);
}

function keyOf(seq: number): string {
  return RECORD_PREFIX + String(seq).padStart(SEQ_DIGITS, '0');
}
