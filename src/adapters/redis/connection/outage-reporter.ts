// Tells of outages once. Several connections lead to one server: the first that fails begins its
// outage, and it is over when all of them work again.

/** What a connection is for. */
export type ConnectionUse = 'commands' | 'messages' | 'bodies';

export type RedisWarning =
  /** Redis can't be used in this way from now on; said once until all works again. */
  | {
      readonly kind: 'redis_unavailable';
      readonly server: string;
      readonly use: ConnectionUse;
      readonly reason: string;
    }
  | { readonly kind: 'redis_recovered'; readonly server: string };

export interface ConnectionReporter {
  readonly down: (reason: string) => void;
  readonly up: () => void;
}

export interface OutageReporter {
  readonly of: (server: string, use: ConnectionUse) => ConnectionReporter;
  /** From now on nothing is said. */
  readonly close: () => void;
}

/** Makes the reporter that all connections of this process to Redis share. */
export function createOutageReporter(onWarning: (warning: RedisWarning) => void): OutageReporter {
  const downs = new Map<string, Set<ConnectionUse>>();
  let isClosed = false;

  function of(server: string, use: ConnectionUse): ConnectionReporter {
    const down = downs.get(server) ?? new Set();
    downs.set(server, down);
    return {
      down: (reason) => {
        if (isClosed) return;
        if (down.size === 0) onWarning({ kind: 'redis_unavailable', server, use, reason });
        down.add(use);
      },
      up: () => {
        const wasDown = down.delete(use);
        if (wasDown && down.size === 0 && !isClosed) onWarning({ kind: 'redis_recovered', server });
      },
    };
  }

  return {
    of,
    close: () => {
      isClosed = true;
    },
  };
}
