// Text → value and source map. One YAML document, no anchors, aliases or tags; every cap is checked
// before the content is looked at. Never throws: whatever the bytes are, the answer is a document.
import { constructFromEvents, EVENT_ID, type Event, parseEvents, YAMLException } from 'js-yaml';
import { CAPS } from './caps.ts';
import type { Problems, SourcePlace } from './diagnostic.ts';
import { indexLines, mapSource, type NodePositions, type SourceProblem } from './source-map.ts';

/** One file of the configuration, or one built-in file. */
export interface ConfigDocument {
  readonly file: string;
  /** undefined: the text could not be read as YAML; the problems say why. */
  readonly value: unknown;
  readonly positions: ReadonlyMap<string, NodePositions>;
  /** Pointers of values that came out of the environment, never shown. */
  readonly hidden: Set<string>;
  readonly problems: Problems;
}

/**
 * Parses one file.
 *
 * @param file its name in messages
 */
export function parseYaml(text: string, file: string, problems: Problems): ConfigDocument {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const report = (problem: SourceProblem): void =>
    problems.add({ ...problem, severity: 'error', file });
  const empty = {
    file,
    value: undefined,
    positions: new Map(),
    hidden: new Set<string>(),
    problems,
  };

  const events = readEvents(source, report);
  if (events === null) return empty;
  const map = mapSource(source, events);
  for (const problem of map.problems) report(problem);
  if (map.problems.length > 0) return empty;
  const value = construct(source, events, report);
  return value === undefined ? empty : { ...empty, value, positions: map.nodes };
}

/** The place of a value, or of the nearest node above that has one. */
export function placeOf(
  document: ConfigDocument,
  pointer: string,
  part: 'key' | 'value',
): SourcePlace {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const positions = document.positions.get(at);
    if (positions !== undefined) return { file: document.file, ...positions[part] };
    if (at === '') return { file: document.file, line: 1, column: 1 };
  }
}

type Report = (problem: SourceProblem) => void;

function readEvents(source: string, report: Report): Event[] | null {
  if (Buffer.byteLength(source) > CAPS.fileBytesMax) {
    report({
      line: 1,
      column: 1,
      message: `the file is larger than ${CAPS.fileBytesMax} bytes`,
      hint: 'split the hosts over several files, see hosts.include',
    });
    return null;
  }
  const nul = source.indexOf('\0');
  if (nul !== -1) {
    report({ ...indexLines(source)(nul), message: 'the file contains a NUL byte', hint: null });
    return null;
  }
  try {
    const events = parseEvents(source, { maxDepth: CAPS.depthMax });
    const fault = checkStructure(source, events);
    if (fault === null) return events;
    report(fault);
    return null;
  } catch (cause) {
    report(describeYamlError(source, cause));
    return null;
  }
}

function checkStructure(source: string, events: readonly Event[]): SourceProblem | null {
  const documents = events.filter((event) => event.type === EVENT_ID.DOCUMENT).length;
  if (documents === 0) {
    return { line: 1, column: 1, message: 'the file is empty', hint: null };
  }
  if (documents > 1) {
    const second = /^---/gm;
    second.lastIndex = 3;
    const at = second.exec(source)?.index ?? 0;
    return {
      ...indexLines(source)(at),
      message: 'the file holds more than one YAML document',
      hint: 'remove the "---", or put the second document into a file of its own',
    };
  }
  if (events.length > CAPS.nodesMax) {
    return { line: 1, column: 1, message: `more than ${CAPS.nodesMax} values`, hint: null };
  }
  return null;
}

function construct(source: string, events: Event[], report: Report): unknown {
  try {
    // Duplicate keys were found on the walk, all of them; `json` only stops the second report.
    return constructFromEvents(events, { source, json: true, maxAliases: 0 })[0] ?? null;
  } catch (cause) {
    report(describeYamlError(source, cause));
    return undefined;
  }
}

function describeYamlError(source: string, cause: unknown): SourceProblem {
  if (!(cause instanceof YAMLException)) {
    return { line: 1, column: 1, message: 'the file is not readable as YAML', hint: null };
  }
  const mark = cause.mark;
  const offset = mark === undefined ? 0 : mark.position;
  return {
    ...indexLines(source)(offset),
    message: `not valid YAML: ${cause.reason}`,
    hint: hintFor(cause.reason, lineAt(source, offset)),
  };
}

function lineAt(source: string, offset: number): string {
  const start = source.lastIndexOf('\n', offset - 1) + 1;
  return source.slice(start).split('\n', 1)[0] ?? '';
}

function hintFor(reason: string, line: string): string | null {
  // Inside `{ }` and `[ ]` a brace begins a map of its own.
  if (/[{[,].*[^"'\w]\$\{/.test(line)) return 'write "${NAME}" in quotes inside { } and [ ]';
  if (reason.includes('tab characters')) return 'indent with spaces';
  if (reason.includes('bad indentation')) {
    return 'check the spaces at the start of this line, and quote a text that contains ": "';
  }
  return null;
}
