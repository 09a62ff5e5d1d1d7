// What the file system says: errors by their code, and nothing there as an answer.
import type { Stats } from 'node:fs';
import { lstat, unlink } from 'node:fs/promises';
import type { Done } from '../../pipeline/ports.ts';

/** The code of a file system error, or `unknown`. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

/** Whether there is nothing at a path, or no folder that could hold it. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(errorCode(error));
}

/** What is at a path, links not followed; null: nothing. */
export async function inspect(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Takes a file's name away, if it is there. */
export async function unlinkIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
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
