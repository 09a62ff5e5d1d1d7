// What a warming says of its pages: to people how far it is, what is tried again and, in the end,
// what is wrong; to programs one JSON object a line.
import { once } from 'node:events';
import type { CommandIo } from '../command.ts';
import { writeLine, writeText } from '../write-text.ts';
import { createProgress } from './show-progress.ts';
import {
  formatCounts,
  formatNumber,
  type WarmFailure,
  type WarmLine,
  type WarmRetryLine,
  type WarmTally,
} from './warm-tally.ts';

export interface WarmReporter {
  /** @param failures those of its pages that failed or are errors */
  readonly onDone: (line: WarmLine, failures: readonly WarmFailure[]) => Promise<void>;
  readonly onRetry: (line: WarmRetryLine) => Promise<void>;
  /** @param problem why it ended before its time, or null */
  readonly end: (problem: string | null) => void;
}

export interface WarmProgress {
  readonly tally: WarmTally;
  readonly total: number;
}

/** Of each kind, told of one by one. */
const TOLD_MAX = 20;

export function reportText(io: CommandIo, { tally, total }: WarmProgress): WarmReporter {
  const { stdout, stderr } = io;
  const progress = createProgress(stdout, tally, total, performance.now());
  const say = (text: string): void => writeLine(stderr, text);
  const failed: string[] = [];
  const refused: string[] = [];
  let failedCount = 0;
  let refusedCount = 0;
  let retries = 0;
  return {
    onDone: async ({ url, refused: reason }, failures) => {
      if (reason !== null) {
        refusedCount += 1;
        if (refusedCount <= TOLD_MAX) refused.push(`refused: ${url}: ${reason}`);
      }
      failedCount += failures.length;
      failed.push(...failures.map(describeFailure).slice(0, TOLD_MAX - failed.length));
      progress.show();
    },
    onRetry: async ({ url, dimension, detail, delayMs }) => {
      retries += 1;
      if (retries > TOLD_MAX) return;
      progress.clear();
      const why = detail === null ? '' : `, because: ${detail}`;
      say(`again in ${Math.ceil(delayMs / 1_000)}s: ${url} (${dimension})${why}`);
    },
    end: (problem) => {
      progress.close();
      if (retries > TOLD_MAX) say(`… and ${retries - TOLD_MAX} more that were tried again`);
      for (const text of refused) say(text);
      if (refusedCount > TOLD_MAX) say(`… and ${refusedCount - TOLD_MAX} more that were refused`);
      for (const text of failed) say(text);
      if (failedCount > TOLD_MAX)
        say(`… and ${failedCount - TOLD_MAX} more that failed or are errors`);
      const urls = `${tally.done} of ${formatNumber(total, 'URL')}`;
      stdout.write(`${urls}, ${formatCounts(tally.counts)}\n`);
      if (problem !== null) say(`edge-gateway: ${problem}`);
    },
  };
}

/** Every line of the gateway as it came, and one for all of it in the end. */
export function reportJson({ stdout }: CommandIo, { tally, total }: WarmProgress): WarmReporter {
  const write = async (value: unknown): Promise<void> => {
    if (!writeText(stdout, `${JSON.stringify(value)}\n`)) await once(stdout, 'drain');
  };
  return {
    onDone: async ({ url, refused, pages }) =>
      await write(refused === null ? { url, pages } : { url, refused }),
    onRetry: async ({ url, dimension, detail, delayMs }) =>
      await write({ url, retry: { dimension, detail, delay_ms: delayMs } }),
    end: (problem) => {
      const summary = { urls: total, done: tally.done, ...tally.counts, error: problem };
      writeText(stdout, `${JSON.stringify(summary)}\n`);
    },
  };
}

function describeFailure({ url, dimension, outcome, detail }: WarmFailure): string {
  const kind = outcome === 'failed' || outcome === 'dropped' ? outcome : `${outcome}, an error`;
  return `${kind}: ${url} (${dimension}): ${detail}`;
}
