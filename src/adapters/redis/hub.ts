// The keys that all processes share beside the entries. One hash tag: in a Cluster one server, the
// hub, has them all. Messages are published there and subscribed to there, so that an answer of the
// hub proves that all it published before has been received.

/** Hash: `seq`, the last place given; `dropped`, the last forgotten; `life`, the store's own id. */
export const HEAD_KEY = '{purges}:head';
/** Sorted set: records by place. */
export const LOG_KEY = '{purges}:log';
/** Sorted set: processes that trust their memory, by the time until when they may. */
export const READERS_KEY = '{purges}:readers';
