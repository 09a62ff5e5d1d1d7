// Connections to origins as the lane uses them: bare sockets that are kept. Implemented by
// adapters/origin.

/** Who is told what comes over a link, until the link is given back. */
export interface LinkListener {
  readonly onData: (chunk: Buffer) => void;
  /** The origin sends no more, or the connection `isBroken`; told once. */
  readonly onClosed: (isBroken: boolean) => void;
}

export interface OriginLink {
  /** It has served requests before: it may be as dead as its silence. */
  readonly isReused: boolean;
  /** Whether it ever came about. */
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
  /** Whether it is one of a kind the lane can use, and not too many connections are open. */
  readonly isUsable: (originUrl: string) => boolean;
  /** Only where it is usable. */
  readonly open: (originUrl: string) => OriginLink;
}
