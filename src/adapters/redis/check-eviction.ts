// Whether Redis may drop what it was told to keep when its memory is full. Pages would be missed
// and got again; the purge log, the usage book and jobs would not, and nobody would hear of it.
import type { RedisConnection } from './connection/redis-connection.ts';

/** Said once a process. */
export interface EvictionWarning {
  readonly kind: 'redis_evicts';
  readonly server: string;
  /** Redis's `maxmemory-policy`. */
  readonly policy: string;
  readonly hint: string;
}

/** The policy by which a server evicts; null: none does, or they don't say. */
export type CheckEviction = () => Promise<string | null>;

const HINT = 'set maxmemory-policy to noeviction: purges and jobs must not be dropped';

export function createEvictionCheck(
  connection: RedisConnection,
  onWarning: (warning: EvictionWarning) => void,
): CheckEviction {
  let isTold = false;
  return async () => {
    const answers = await Promise.all(
      // Not CONFIG, which managed ones forbid.
      connection.servers().map(({ run }) => run((redis) => redis.info('memory'))),
    );
    const [policy = null] = answers.flatMap((answer) =>
      answer.state === 'done' ? readEviction(answer.value) : [],
    );
    if (policy !== null && !isTold) {
      isTold = true;
      onWarning({ kind: 'redis_evicts', server: connection.name, policy, hint: HINT });
    }
    return policy;
  };
}

/** Without a bound the policy has nothing to do. */
function readEviction(info: string): readonly string[] {
  const bound = /^maxmemory:(\d+)/m.exec(info)?.[1];
  const policy = /^maxmemory_policy:([a-z-]+)/m.exec(info)?.[1];
  const isBounded = bound !== undefined && bound !== '0';
  return isBounded && policy !== undefined && policy !== 'noeviction' ? [policy] : [];
}
