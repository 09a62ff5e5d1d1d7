// JSON pointer → line and column, from the parser's own events, so that every later problem lands
// on the very key or value it is about. What YAML allows but a configuration must not have
// (duplicate keys, anchors, tags, keys that are lists) is found on the same walk, all at once.
import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE } from 'js-yaml';
import { CAPS } from './caps.ts';

export interface Position {
  /** Both start at 1. */
  readonly line: number;
  readonly column: number;
}

export interface NodePositions {
  /** Where the key stands; of a list item, the item. */
  readonly key: Position;
  readonly value: Position;
}

export interface SourceProblem extends Position {
  readonly message: string;
  readonly hint: string | null;
}

export interface SourceMap {
  readonly nodes: ReadonlyMap<string, NodePositions>;
  readonly problems: readonly SourceProblem[];
}

interface Walk {
  readonly source: string;
  readonly events: readonly Event[];
  readonly positionAt: (offset: number) => Position;
  readonly nodes: Map<string, NodePositions>;
  readonly problems: SourceProblem[];
  next: number;
}

/** One step of a JSON pointer, RFC 6901. */
export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Walks the events of one document; nesting is already capped by the parser. */
export function mapSource(source: string, events: readonly Event[]): SourceMap {
  const walk: Walk = {
    source,
    events,
    positionAt: indexLines(source),
    nodes: new Map(),
    problems: [],
    next: 0,
  };
  if (events[0]?.type === EVENT_ID.DOCUMENT) walk.next = 1;
  if (walk.next < events.length) walkNode(walk, '', 0);
  return walk;
}

/** Offsets → line and column, by the starts of the lines. */
export function indexLines(source: string): (offset: number) => Position {
  const starts = [0];
  for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1)) {
    starts.push(at + 1);
  }
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

/** @param pointer null inside of something refused, where nothing is worth a position */
function walkNode(walk: Walk, pointer: string | null, keyOffset: number | null): void {
  const event = walk.events[walk.next];
  walk.next += 1;
  if (event === undefined) return;
  refuseExtras(walk, event);
  const offset = offsetOf(event) ?? keyOffset ?? 0;
  if (pointer !== null) {
    const value = walk.positionAt(offset);
    walk.nodes.set(pointer, {
      key: keyOffset === null ? value : walk.positionAt(keyOffset),
      value,
    });
  }
  if (event.type === EVENT_ID.SEQUENCE) walkList(walk, pointer);
  if (event.type === EVENT_ID.MAPPING) walkMap(walk, pointer, offset);
}

function walkList(walk: Walk, pointer: string | null): void {
  for (let index = 0; hasMore(walk); index += 1) {
    walkNode(walk, pointer === null ? null : `${pointer}/${index}`, null);
  }
  walk.next += 1;
}

function walkMap(walk: Walk, pointer: string | null, mapOffset: number): void {
  const seen = new Map<string, Position>();
  while (hasMore(walk)) {
    const event = walk.events[walk.next];
    if (event === undefined) return;
    const keyOffset = offsetOf(event) ?? mapOffset;
    if (event.type !== EVENT_ID.SCALAR) {
      if (event.type !== EVENT_ID.ALIAS) refuse(walk, keyOffset, 'a key must be plain text');
      walkNode(walk, null, keyOffset);
      walkNode(walk, null, keyOffset);
      continue;
    }
    refuseExtras(walk, event);
    walk.next += 1;
    const key = getScalarValue(walk.source, event);
    const before = seen.get(key);
    if (before === undefined) {
      seen.set(key, walk.positionAt(keyOffset));
    } else {
      refuse(walk, keyOffset, `duplicate key "${key}"`, `first written in line ${before.line}`);
    }
    walkNode(walk, pointer === null ? null : `${pointer}/${escapePointer(key)}`, keyOffset);
  }
  walk.next += 1;
  if (seen.size > CAPS.keysPerMapMax) {
    const counts = `a map of ${seen.size} keys; at most ${CAPS.keysPerMapMax} are read`;
    refuse(walk, mapOffset, counts);
  }
}

function hasMore(walk: Walk): boolean {
  return walk.next < walk.events.length && walk.events[walk.next]?.type !== EVENT_ID.POP;
}

function refuseExtras(walk: Walk, event: Event): void {
  if (event.type === EVENT_ID.ALIAS) {
    refuse(
      walk,
      event.anchorStart - 1,
      'YAML aliases are not used here',
      'a text that starts with "*" needs quotes: "*utm"',
    );
    return;
  }
  if (event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP) return;
  if (event.anchorStart !== -1) {
    refuse(
      walk,
      event.anchorStart - 1,
      'YAML anchors are not used here',
      'a text that starts with "&" needs quotes; what hosts share belongs to the global level',
    );
  }
  if (event.tagStart !== -1) {
    refuse(
      walk,
      event.tagStart,
      'YAML tags are not used here',
      'a text that starts with "!" needs quotes',
    );
  }
}

function refuse(walk: Walk, offset: number, message: string, hint: string | null = null): void {
  walk.problems.push({ ...walk.positionAt(offset), message, hint });
}

/** Where a node's own text begins; null for a value that was left out. */
function offsetOf(event: Event): number | null {
  switch (event.type) {
    case EVENT_ID.SCALAR:
      if (event.valueStart === -1) return null;
      // The value of a quoted text begins after its quote.
      return isQuoted(event.style) ? event.valueStart - 1 : event.valueStart;
    case EVENT_ID.MAPPING:
    case EVENT_ID.SEQUENCE:
      return event.start;
    case EVENT_ID.ALIAS:
      return event.anchorStart - 1;
    case EVENT_ID.DOCUMENT:
    case EVENT_ID.POP:
      return null;
  }
}

function isQuoted(style: number): boolean {
  return style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED;
}
