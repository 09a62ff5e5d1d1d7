// Whether a process is there: one reading of what the system says, for all who clean up behind the
// dead. Who takes a living one for dead removes what it is still using.

/** Sends signals, as `process` does. */
export interface Signaller {
  readonly kill: (pid: number, signal: 0) => unknown;
}

/** Asks by signal 0, which is checked and not sent. */
export function isProcessAlive(pid: number, system: Signaller): boolean {
  try {
    system.kill(pid, 0);
    return true;
  } catch (error) {
    // It lives, and belongs to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
