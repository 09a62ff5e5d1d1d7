// Who claims the bodies of a page: one row each, taken and given back by its version, so that two
// processes never have the same. What a dead process has left lasts for a few seconds and is taken
// over by the next who asks; what nobody asks for goes when a store is opened.
import {
  type CacheKey,
  CLAIM_MS,
  type Claim,
  type Clock,
  type Done,
  type EntryStore,
} from '../../pipeline/ports.ts';
import { rangeOfPrefix } from './list-keys.ts';
import type { Embedded } from './open-embedded.ts';
import { renewView } from './open-environment.ts';
import { nextStamp } from './stamp.ts';

const PREFIX = 'claim:';

const DONE: Done<void> = { state: 'done', value: undefined };

export interface EmbeddedClaims extends Pick<EntryStore, 'claim' | 'release'> {
  /** Writes, and ends the claim, in one step; says whether it had not been taken over. */
  readonly endWith: (key: CacheKey, claim: Claim, writes: () => void) => Promise<boolean>;
}

/** Makes the claims of an environment. */
export function createEmbeddedClaims({ environment, write, clock }: Embedded): EmbeddedClaims {
  return {
    claim: (key, mine) =>
      write(async () => {
        const row = rowOf(key);
        // What others have renewed meanwhile has the same version as before.
        renewView(environment);
        const found = environment.getEntry(row);
        const isMine = mine !== undefined && found?.version === Number(mine);
        if (!isMine && (mine !== undefined || (found && isLasting(found.value, clock)))) {
          return { state: 'done', value: null };
        }
        const stamp = isMine ? Number(mine) : nextStamp(clock.now());
        const take = (): void => void environment.put(row, String(clock.now() + CLAIM_MS), stamp);
        const isOurs = await (found === undefined
          ? environment.ifNoExists(row, take)
          : environment.ifVersion(row, found.version ?? 0, take));
        return { state: 'done', value: isOurs ? String(stamp) : null };
      }),
    release: (key, claim) =>
      write(async () => {
        const [row, stamp] = [rowOf(key), Number(claim)];
        // A look costs nothing beside a transaction.
        if (environment.doesExist(row, stamp)) await environment.remove(row, stamp);
        return DONE;
      }),
    endWith: (key, claim, writes) =>
      environment.ifVersion(rowOf(key), Number(claim), () => {
        writes();
        void environment.remove(rowOf(key));
      }),
  };
}

/** Takes out what dead processes have left; what can't be taken out now is by the next start. */
export async function dropOldClaims({ environment, write, clock }: Embedded): Promise<void> {
  await write(async () => {
    const rows = environment.getRange({ ...rangeOfPrefix(PREFIX), versions: true });
    const old = [...rows].filter(({ value }) => !isLasting(value, clock));
    await Promise.all(old.map(({ key, version }) => environment.remove(key, version ?? 0)));
    return DONE;
  });
}

function rowOf(key: CacheKey): string {
  return PREFIX + key;
}

/** Not one that a clock has set which was wrong. */
function isLasting(until: string, clock: Clock): boolean {
  const leftMs = Number(until) - clock.now();
  return leftMs > 0 && leftMs <= CLAIM_MS;
}
