// What is wrong with a configuration, and where. Problems are collected, never thrown: a user sees
// all of them at once, and a reload that has any keeps the old configuration.

export interface SourcePlace {
  /** As the user would type it; for layer 0 the name inside the package. */
  readonly file: string;
  /** Both start at 1. */
  readonly line: number;
  readonly column: number;
}

export interface Diagnostic extends SourcePlace {
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** What to do about it; null when the message says it all. */
  readonly hint: string | null;
}

/** Where the readers of the configuration put what they find. */
export interface Problems {
  readonly add: (problem: Diagnostic) => void;
  /** Keeps a text out of every message, also of those that were added before. */
  readonly hide: (secret: string) => void;
  /** What is known of this place says it all: problems that are added later are dropped. */
  readonly close: (place: SourcePlace) => void;
  /** In order of file and line; the same sentence at the same place only once. */
  readonly list: () => readonly Diagnostic[];
  readonly hasErrors: () => boolean;
}

/** More are not read by anybody, and a hostile file must not fill the memory. */
const PROBLEMS_MAX = 1_000;
/** Shorter ones would blank out parts of ordinary words. */
const SECRET_CHARS_MIN = 4;

export function createProblems(): Problems {
  const found = new Map<string, Diagnostic>();
  const secrets = new Set<string>();
  const closed = new Set<string>();
  return {
    hide: (secret) => {
      if (secret.length >= SECRET_CHARS_MIN) secrets.add(secret);
    },
    add: (problem) => {
      if (closed.has(formatPlace(problem))) return;
      if (found.size < PROBLEMS_MAX) found.set(formatDiagnostic(problem), problem);
    },
    close: (place) => void closed.add(formatPlace(place)),
    list: () => [...found.values()].map((one) => mask(one, secrets)).toSorted(comparePlaces),
    hasErrors: () => [...found.values()].some(({ severity }) => severity === 'error'),
  };
}

/** One problem in one line, `file:line:column: error: message`, and its hint below. */
export function formatDiagnostic(problem: Diagnostic): string {
  const head = `${formatPlace(problem)}: ${problem.severity}: ${problem.message}`;
  return problem.hint === null ? head : `${head}\n  hint: ${problem.hint}`;
}

export function formatPlace({ file, line, column }: SourcePlace): string {
  return `${file}:${line}:${column}`;
}

function mask(problem: Diagnostic, secrets: ReadonlySet<string>): Diagnostic {
  if (secrets.size === 0) return problem;
  const hint = problem.hint === null ? null : maskText(problem.hint, secrets);
  return { ...problem, message: maskText(problem.message, secrets), hint };
}

/** Ignores case, because a domain is shown in lower case. */
function maskText(text: string, secrets: ReadonlySet<string>): string {
  let masked = text;
  for (const secret of secrets) {
    const literal = secret.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    masked = masked.replaceAll(new RegExp(literal, 'gi'), '<hidden>');
  }
  return masked;
}

function comparePlaces(a: SourcePlace, b: SourcePlace): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}
