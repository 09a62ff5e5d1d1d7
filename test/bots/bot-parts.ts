// A judge for tests: the shipped table, lists written by the test, and a name checker of its choice.
import { onTestFinished } from 'vitest';
import { createNameChecker } from '../../src/adapters/bot-lists/create-name-checker.ts';
import { readCrawlers } from '../../src/config/read-crawlers.ts';
import {
  compileRangeList,
  parseRangeFile,
  type RangeList,
} from '../../src/core/bots/range-list.ts';
import { type BotJudge, createBotJudge } from '../../src/pipeline/judge-bot.ts';
import type { NameChecker, RangeLists } from '../../src/pipeline/ports.ts';
import { createTestClock, type TestClock } from '../contract/test-clock.ts';
import { type NameServer, startNameServer, type Zone } from './name-server.ts';

export const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
export const GPTBOT = 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)';
export const MESSAGES =
  'Mozilla/5.0 (Macintosh) Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0';

/** Lists of networks by name, fetched now unless a date says otherwise. */
export type Networks = Readonly<Record<string, readonly string[]>>;

function rangeLists(networks: Networks, fetchedAtMs: number): RangeLists {
  const lists = new Map<string, RangeList>(
    Object.entries(networks).map(([name, prefixes]) => [name, rangeList(prefixes, fetchedAtMs)]),
  );
  return {
    find: (name) => lists.get(name) ?? null,
    reload: async () => undefined,
    close: () => undefined,
  };
}

function rangeList(networks: readonly string[], fetchedAtMs: number): RangeList {
  const prefixes = networks.map((text) =>
    text.includes(':') ? { ipv6Prefix: text } : { ipv4Prefix: text },
  );
  const fetchedAt = new Date(fetchedAtMs).toISOString();
  const file = parseRangeFile(JSON.stringify({ fetchedAt, prefixes }));
  const list = file.ok ? compileRangeList(file.value) : file;
  if (!list.ok) throw new Error(list.error);
  return list.value;
}

export interface JudgeParts {
  readonly judge: BotJudge;
  readonly clock: TestClock;
  readonly defects: readonly unknown[];
}

export function makeJudge(names: NameChecker, networks: Networks = {}): JudgeParts {
  const clock = createTestClock();
  const defects: unknown[] = [];
  const judge = createBotJudge({
    table: readCrawlers(),
    ranges: rangeLists(networks, clock.now()),
    names,
    clock,
    onDefect: (error) => defects.push(error),
  });
  return { judge, clock, defects };
}

/** A real resolver that asks a real server with these names; both end with the test. */
export async function makeNames(
  zone: Zone,
): Promise<{ readonly names: NameChecker; readonly server: NameServer }> {
  const server = await startNameServer(zone);
  const names = createNameChecker({ nameServers: [server.address], timeoutMs: 150 });
  onTestFinished(() => {
    names.close();
    server.close();
  });
  return { names, server };
}
