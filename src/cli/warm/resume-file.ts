// Where a warming has got to, in a small file that is always whole: written aside and renamed.
// Every second, as long as anything changes: what is killed loses no more than that.
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { fieldsOf, isCount, parseRecord } from '../../core/records.ts';
import { NOTHING_YET, type WarmCounts } from './warm-tally.ts';

export interface WarmState {
  readonly source: string;
  /** How many of its URLs, from the first on, are done. */
  readonly done: number;
  /** Of those. */
  readonly counts: WarmCounts;
}

export interface ResumeFile {
  /** null: there is none, or it is of another source. */
  readonly read: () => Promise<WarmState | null>;
  readonly write: (state: WarmState) => Promise<void>;
  readonly remove: () => Promise<void>;
}

const PAUSE_MS = 1_000;

export function openResumeFile(path: string, source: string): ResumeFile {
  return {
    read: async () => {
      const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
        if (cause.code === 'ENOENT') return null;
        throw cause;
      });
      const state = text === null ? null : parseState(text);
      return state?.source === source ? state : null;
    },
    write: async (state) => {
      const aside = `${path}.new`;
      await writeFile(aside, `${JSON.stringify(state)}\n`);
      await rename(aside, path);
    },
    remove: async () => await rm(path, { force: true }),
  };
}

/**
 * Writes the state now, every second, and a last time when the answer is called.
 *
 * @throws what the system says of a file that can't be written
 */
export async function keepState(
  file: ResumeFile,
  current: () => WarmState,
): Promise<() => Promise<void>> {
  let written = current();
  await file.write(written);
  let writing = Promise.resolve();
  const timer = setInterval(() => {
    const state = current();
    if (state.done === written.done) return;
    written = state;
    // What goes on failing is told by the last write.
    writing = writing.then(() => file.write(state)).catch(() => undefined);
  }, PAUSE_MS);
  return async () => {
    clearInterval(timer);
    await writing;
    await file.write(current());
  };
}

function parseState(text: string): WarmState | null {
  const { source, done, counts } = parseRecord(text) ?? {};
  if (typeof source !== 'string' || !isCount(done)) return null;
  const numbers = fieldsOf(counts);
  const numberOf = (name: keyof WarmCounts): number => {
    const value = numbers[name];
    return isCount(value) ? value : NOTHING_YET[name];
  };
  return {
    source,
    done,
    counts: {
      fresh: numberOf('fresh'),
      rendered: numberOf('rendered'),
      unstored: numberOf('unstored'),
      failed: numberOf('failed'),
      refused: numberOf('refused'),
      mistaken: numberOf('mistaken'),
    },
  };
}
