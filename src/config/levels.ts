// Look-up over levels, deepest first: the user's file, then layer 0.
import { type ConfigNode, descend } from './config-node.ts';
import { type Reader, readAt } from './read-values.ts';

/** The deepest level's node at a dotted path. */
export function firstWritten(roots: readonly ConfigNode[], path: string): ConfigNode | undefined {
  for (const root of roots) {
    const node = descend(root, path);
    if (node !== undefined) return node;
  }
  return undefined;
}

/**
 * The deepest value that can be read; a bad one was reported and the next is taken, so that
 * reading goes on and finds the other problems.
 *
 * @throws when layer 0 lacks the key, which a test of the package would show
 */
export function pick<T>(roots: readonly ConfigNode[], path: string, read: Reader<T>): T {
  for (const root of roots) {
    const value = readAt(root, path, read);
    if (value !== undefined) return value;
  }
  throw new Error(`config/defaults leaves out ${path}`);
}

/** As `pick`, for keys that layer 0 leaves out. */
export function pickOptional<T>(
  roots: readonly ConfigNode[],
  path: string,
  read: Reader<T>,
): T | null {
  for (const root of roots) {
    const value = readAt(root, path, read);
    if (value !== undefined) return value;
  }
  return null;
}
