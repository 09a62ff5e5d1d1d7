// Readers of single values: node → typed value, or undefined after saying what is wrong. A wrong
// YAML type is silent here, because validate-shape has already reported it.
import { type Pattern, parsePattern } from '../core/pattern/parse-pattern.ts';
import type { Result } from '../core/result.ts';
import {
  type ConfigNode,
  descend,
  type Fault,
  itemsOf,
  reportError,
  showValue,
} from './config-node.ts';
import { formatDuration, parseDuration } from './values/parse-duration.ts';
import { parseSize } from './values/parse-size.ts';

export type Reader<T> = (node: ConfigNode) => T | undefined;

/** Fields of a block: the dotted path below the block, and how to read what is there. */
export type FieldTable<T> = {
  readonly [K in keyof T]-?: readonly [string, Reader<Exclude<T[K], undefined>>];
};

/** Reads what stands at a dotted path; undefined when nothing does. */
export function readAt<T>(
  node: ConfigNode | undefined,
  path: string,
  read: Reader<T>,
): T | undefined {
  const child = descend(node, path);
  return child === undefined ? undefined : read(child);
}

/** Whether a block has every field: true of layer 0, and so of everything merged over it. */
export function isComplete<T>(block: Partial<T>, table: FieldTable<T>): block is T {
  return Object.keys(table).every((name) => Object.hasOwn(block, name));
}

/** Reads the fields that are written; the others stay absent and are inherited. */
export function readFields<T>(node: ConfigNode | undefined, table: FieldTable<T>): Partial<T> {
  const fields: Partial<T> = {};
  if (node === undefined) return fields;
  for (const name in table) {
    const [path, read] = table[name];
    const value = readAt(node, path, read);
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}

export function readText(node: ConfigNode): string | undefined {
  return typeof node.value === 'string' ? node.value : undefined;
}

export function readFlag(node: ConfigNode): boolean | undefined {
  return typeof node.value === 'boolean' ? node.value : undefined;
}

export function readNumber(node: ConfigNode): number | undefined {
  return typeof node.value === 'number' && Number.isFinite(node.value) ? node.value : undefined;
}

/** One of several words; others were already reported. */
export function readWord<const W extends readonly (string | number)[]>(
  ...words: W
): Reader<W[number]> {
  return (node) => words.find((word) => word === node.value);
}

/** Turns a parser into a reader that reports its fault with the value. */
export function readParsed<T>(parse: (text: string) => Result<T, Fault>): Reader<T> {
  return (node) => {
    if (typeof node.value !== 'string') return undefined;
    return takeParsed(node, parse(node.value));
  };
}

export function takeParsed<T>(node: ConfigNode, parsed: Result<T, Fault>): T | undefined {
  if (parsed.ok) return parsed.value;
  reportError(node, `${showValue(node)}: ${parsed.error.message}`, parsed.error.hint);
  return undefined;
}

/** Timers of more than 24 days fire at once in Node; nothing here waits for an hour. */
const TIMEOUT_MS_MAX = 24 * 3_600_000;

export function readDuration(node: ConfigNode): number | undefined {
  // A number other than 0 has the wrong type, which the schema says with the same hint.
  if (typeof node.value !== 'string' && node.value !== 0) return undefined;
  return takeParsed(node, parseDuration(node.value));
}

/** A duration that something waits for. */
export function readTimeout(node: ConfigNode): number | undefined {
  const durationMs = readDuration(node);
  if (durationMs === undefined) return undefined;
  if (durationMs > 0 && durationMs <= TIMEOUT_MS_MAX) return durationMs;
  const problem = durationMs === 0 ? 'must be more than 0' : 'is longer than a day';
  reportError(
    node,
    `a timeout of ${formatDuration(durationMs)} ${problem}`,
    'write for example 30s',
  );
  return undefined;
}

export function readSize(node: ConfigNode): number | undefined {
  if (typeof node.value === 'number' && !Number.isInteger(node.value)) return undefined;
  if (typeof node.value !== 'string' && typeof node.value !== 'number') return undefined;
  return takeParsed(node, parseSize(node.value));
}

/** A list whose items are read one by one; bad items are left out after being reported. */
export function readList<T>(read: Reader<T>, allowSingle = false): Reader<readonly T[]> {
  return (node) => {
    if (!Array.isArray(node.value) && !(allowSingle && typeof node.value === 'string')) {
      return undefined;
    }
    return itemsOf(node, allowSingle).flatMap((item) => {
      const value = read(item);
      return value === undefined ? [] : [value];
    });
  };
}

export function readPattern(node: ConfigNode): Pattern | undefined {
  if (typeof node.value !== 'string') return undefined;
  return readPatternText(node, node.value);
}

/** Parses a pattern that was made of the node's value, such as an encoded path. */
export function readPatternText(node: ConfigNode, source: string): Pattern | undefined {
  const pattern = parsePattern(source);
  if (pattern.ok) return pattern.value;
  reportError(node, pattern.error.message, pattern.error.hint);
  return undefined;
}

export const readPatterns: Reader<readonly Pattern[]> = readList(readPattern);
