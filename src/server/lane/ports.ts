// Connections to origins as the lane uses them: bare sockets that are kept. Implemented by
// adapters/origin.

/** Who is told what comes over a link, until the link is given back. */
export interface LinkListener {
  readonly onData: (chunk: Buffer) => void;
  /** The origin sends no more, or the connection broke; told once. */
  readonly onClosed: () => void;
}

export interface OriginLink {
  /** It has served requests before: it may be as dead as its silence. */
  readonly isReused: boolean;
  readonly isConnected: () => boolean;
  readonly listen: (listener: LinkListener) => void;
  /** @param head latin1 */
  readonly write: (head: string) => void;
  readonly pause: () => void;
  readonly resume: () => void;
  /** For the next request: the answer has been read to its end, and nothing behind it. */
  readonly keep: () => void;
  readonly destroy: () => void;
}

export interface OriginLinks {
  /** null: not one of a kind the lane can use, or too many are open. */
  readonly open: (originUrl: string) => OriginLink | null;
}
