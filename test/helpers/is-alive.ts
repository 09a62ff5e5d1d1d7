// Whether a process is there, for tests and benches that wait for an end.
import { isProcessAlive } from '../../src/core/is-process-alive.ts';

export function isAlive(pid: number): boolean {
  return isProcessAlive(pid, process);
}
