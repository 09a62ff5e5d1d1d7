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
  readonly setLevel: (level: LogLevel) => void;
}

/**
 * @param output where the lines go; standard output unless a test listens
 * @param base in every line
 */
export function createLog(
  level: LogLevel,
  output: NodeJS.WritableStream,
  base: LogFields = {},
): Log {
  const logger = pino(
    {
      level,
      base,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    output,
  );
  const write =
    (label: Level) =>
    (message: string, fields: LogFields = {}) =>
      logger[label](fields, message);
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    setLevel: (next) => {
      logger.level = next;
    },
  };
}
