// Brings the lists of one group up to date. A list that can't be fetched, can't be read or is empty
// leaves the copy at hand as it was.
import type { CrawlerGroup, RangeSource } from '../../core/bots/crawlers.ts';
import { parsePublished, parseRangeFile, type RangeFile } from '../../core/bots/range-list.ts';
import type { Clock } from '../../pipeline/ports.ts';
import { fetchList, type ListRequest } from './fetch-list.ts';
import { readListFile, writeListFile } from './list-file.ts';

export interface RefreshOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly timeoutMs?: number;
  readonly connection?: ListRequest['connection'];
}

export interface RefreshedList {
  readonly name: string;
  readonly outcome: 'updated' | 'unchanged' | 'failed';
  /** Networks, or why it failed. */
  readonly detail: string;
}

const TIMEOUT_MS = 30_000;

/** One after another: owners are few, and none should see a burst. */
export async function refreshGroup(
  group: CrawlerGroup,
  options: RefreshOptions,
): Promise<readonly RefreshedList[]> {
  const reports: RefreshedList[] = [];
  for (const source of group.lists) {
    reports.push({ name: source.name, ...(await refreshList(source, group, options)) });
  }
  return reports;
}

async function refreshList(
  { name, url, format }: RangeSource,
  { listDomains }: CrawlerGroup,
  { folder, clock, timeoutMs = TIMEOUT_MS, connection = {} }: RefreshOptions,
): Promise<Omit<RefreshedList, 'name'>> {
  const present = readGood(await readListFile(folder, name));
  const etag = present?.etag ?? null;
  const fetched = await fetchList({ url, domains: listDomains, etag, timeoutMs, connection });
  if (!fetched.ok) return { outcome: 'failed', detail: fetched.error };
  const fetchedAt = new Date(clock.now()).toISOString();
  if (fetched.value.state === 'unchanged') {
    if (present !== null) await writeListFile(folder, name, { ...present, fetchedAt });
    return { outcome: 'unchanged', detail: 'not modified' };
  }
  const published = parsePublished(fetched.value.text, format);
  if (!published.ok) return { outcome: 'failed', detail: published.error };
  const file = { url, etag: fetched.value.etag, fetchedAt, ...published.value };
  await writeListFile(folder, name, file);
  return { outcome: 'updated', detail: `${published.value.prefixes.length} networks` };
}

/** A damaged copy is none: its ETag must not keep the good list away. */
function readGood(text: string | null): RangeFile | null {
  const parsed = text === null ? null : parseRangeFile(text);
  return parsed?.ok ? parsed.value : null;
}
