// Errors of the file system, by their code.
import type { Done } from '../../pipeline/ports.ts';

/** The code of a file system error, or `unknown`. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

/** Whether there is nothing at a path, or no folder that could hold it. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(errorCode(error));
}

/** What the disk throws becomes a value; what has no code is a broken invariant. */
export async function answer<T>(operation: () => Promise<T>): Promise<Done<T>> {
  try {
    return { state: 'done', value: await operation() };
  } catch (error) {
    if (errorCode(error) === 'unknown') throw error;
    return { state: 'unavailable', reason: errorCode(error).toLowerCase() };
  }
}
