// The log: JSON lines on standard output. One line a request, in the words the pipeline speaks;
// text from outside is a JSON string and so can't forge a line.
import { type Level, pino } from 'pino';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  readonly debug: (message: string, fields?: LogFields) => void;
  readonly info: (message: string, fields?: LogFields) => void;
  readonly warn: (message: string, fields?: LogFields) => void;
  readonly error: (message: string, fields?: LogFields) => void;
  /**
   * A line of level `info` for what happens a thousand times a second; written with the others of
   * the same turn.
   *
   * @param members of the line, JSON already, without braces; made only where the line is wanted
   */
  readonly infoOften: (message: string, members: () => string) => void;
  readonly setLevel: (level: LogLevel) => void;
}

/** Longer texts are not collected for the end of the turn. */
const COLLECTED_CHARS_MAX = 65_536;

/**
 * @param output where the lines go; standard output unless a test listens
 * @param base in every line
 */
export function createLog(
  level: LogLevel,
  output: NodeJS.WritableStream,
  base: LogFields = {},
): Log {
  const lines = collectLines(output);
  const logger = pino(
    {
      level,
      base,
      timestamp: () => `,"time":"${isoTime(Date.now())}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => lines.writeNow(line) },
  );
  const write =
    (label: Level) =>
    (message: string, fields: LogFields = {}) =>
      logger[label](fields, message);
  const baseMembers = Object.entries(base)
    .map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`)
    .join('');
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    infoOften: (message, members) => {
      if (!logger.isLevelEnabled('info')) return;
      const start = `{"level":"info","time":"${isoTime(Date.now())}"${baseMembers},`;
      lines.collect(`${start}${members()},"msg":${JSON.stringify(message)}}\n`);
    },
    setLevel: (next) => {
      logger.level = next;
    },
  };
}

/** Many lines are written in the same second. */
let secondMs = Number.NaN;
let secondText = '';

function isoTime(ms: number): string {
  const milliseconds = ms % 1_000;
  if (ms - milliseconds !== secondMs) {
    secondMs = ms - milliseconds;
    secondText = new Date(secondMs).toISOString().slice(0, -'000Z'.length);
  }
  return `${secondText}${String(milliseconds).padStart(3, '0')}Z`;
}

interface LineCollector {
  readonly collect: (line: string) => void;
  /** Behind all that was collected before. */
  readonly writeNow: (line: string) => void;
}

/** One write for the lines of a turn: each write is a system call. */
function collectLines(output: NodeJS.WritableStream): LineCollector {
  let collected = '';
  const flush = (): void => {
    if (collected === '') return;
    const text = collected;
    collected = '';
    output.write(text);
  };
  return {
    collect: (line) => {
      if (collected === '') setImmediate(flush);
      collected += line;
      if (collected.length > COLLECTED_CHARS_MAX) flush();
    },
    writeNow: (line) => {
      flush();
      output.write(line);
    },
  };
}
