// Fetches the address lists that owners publish, for the command `bots refresh`.
import { type RefreshedList, refreshGroup } from '../adapters/bot-lists/refresh-lists.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import type { CrawlerGroup } from '../core/bots/crawlers.ts';

export type { RefreshedList } from '../adapters/bot-lists/refresh-lists.ts';

/** Brings the lists of a group in a folder up to date. */
export async function refreshBotLists(
  group: CrawlerGroup,
  folder: string,
): Promise<readonly RefreshedList[]> {
  return await refreshGroup(group, { folder, clock: systemClock });
}
