// What is needed to tell crawlers from those who only use their names: the shipped table, the
// address lists on this machine and a resolver.
import { join } from 'node:path';
import { createNameChecker } from '../adapters/bot-lists/create-name-checker.ts';
import { openRangeLists } from '../adapters/bot-lists/create-range-lists.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import { readCrawlers, SHIPPED_RANGES_FOLDER } from '../config/read-crawlers.ts';
import type { Settings } from '../config/settings.ts';
import { type BotJudge, createBotJudge } from '../pipeline/judge-bot.ts';
import type { Clock, RangeLists } from '../pipeline/ports.ts';

export interface Bots {
  readonly judge: BotJudge;
  readonly ranges: RangeLists;
  readonly close: () => void;
}

export interface BotParts {
  /** Absent: the system's. */
  readonly clock?: Clock;
  /** `address:port`; absent: the system's name servers. */
  readonly nameServers?: readonly string[] | undefined;
  /** An address list that is there and cannot be used. */
  readonly onProblem: (file: string, reason: string) => void;
  readonly onDefect: (error: unknown) => void;
}

/** Where `bots refresh` writes and the gateway looks first. */
export function rangesFolder({ storage }: Settings): string {
  return join(storage.basePath, 'bots');
}

export async function openBots(settings: Settings, parts: BotParts): Promise<Bots> {
  const { clock = systemClock, nameServers, onProblem, onDefect } = parts;
  const table = readCrawlers();
  const names = createNameChecker(nameServers === undefined ? {} : { nameServers });
  const ranges = await openRangeLists({
    folders: [rangesFolder(settings), SHIPPED_RANGES_FOLDER],
    sources: table.groups.flatMap(({ lists }) => lists),
    onProblem,
  });
  return {
    judge: createBotJudge({ table, ranges, names, clock, onDefect }),
    ranges,
    close: () => {
      ranges.close();
      names.close();
    },
  };
}
