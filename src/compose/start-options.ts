// What a process of ours is started with, whatever its role.
import type { Writable } from 'node:stream';
import type { Clock } from '../pipeline/ports.ts';

export interface StartOptions {
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: Writable;
  /**
   * Whether worker processes may be forked, as `server.workers` says; absent: this one does all.
   */
  readonly forks?: boolean;
  /** Absent: the system's. */
  readonly clock?: Clock;
  /** `address:port`, by which crawlers are verified; absent: the system's. */
  readonly nameServers?: readonly string[];
}
