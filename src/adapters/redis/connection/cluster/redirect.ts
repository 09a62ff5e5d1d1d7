// A Cluster node's "not here": MOVED (from now on there) and ASK (this once there).

export interface Redirect {
  readonly kind: 'moved' | 'ask';
  /** `host:port`; without a host, the one that was asked is meant. */
  readonly address: string;
}

/** Reads a redirection out of what an attempt threw; null: it is something else. */
export function readRedirect(error: unknown): Redirect | null {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return null;
  const match = /^(MOVED|ASK) \d{1,5} (\S{0,255}:\d{1,5})$/.exec(error.message);
  if (match?.[2] === undefined) return null;
  return { kind: match[1] === 'ASK' ? 'ask' : 'moved', address: match[2] };
}
