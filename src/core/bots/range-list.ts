// A published list of addresses: what owners publish, and the file it is kept in. Both are JSON of
// the same shape; ours says besides where and when it was fetched. A list with one entry that is
// no network is refused as a whole: half a list would call crawlers forged.
import { fieldsOf, parseRecord, type UnknownRecord } from '../records.ts';
import { err, ok, type Result } from '../result.ts';
import type { RangeSource } from './crawlers.ts';
import { compilePrefixes, type Prefix, type PrefixSet, parsePrefix } from './prefix-set.ts';

export interface RangeList {
  readonly prefixes: PrefixSet;
  /** When it was fetched, or else made, epoch milliseconds. */
  readonly dateMs: number;
}

/** The file, in the owners' key names; one straight from its owner has the last two only. */
export interface RangeFile {
  readonly url: string | null;
  readonly etag: string | null;
  readonly fetchedAt: string | null;
  readonly creationTime: string | null;
  readonly prefixes: readonly PublishedPrefix[];
}

type PublishedPrefix = { readonly ipv4Prefix: string } | { readonly ipv6Prefix: string };

/** Far above the longest list there is. */
const PREFIXES_MAX = 100_000;
/** Wider networks than any owner of crawlers has: taken for a broken list. */
const PREFIX_LENGTH_MIN: Readonly<Record<Prefix['bits'], number>> = { 32: 8, 128: 16 };

/** Reads a list as its owner publishes it. */
export function parsePublished(
  text: string,
  format: RangeSource['format'],
): Result<Pick<RangeFile, 'creationTime' | 'prefixes'>, string> {
  if (format === 'lines') return parseLines(text);
  const value = parseRecord(text);
  if (value === null) return err('not a JSON object');
  const networks = readPrefixes(value);
  if (!networks.ok) return networks;
  return ok({ creationTime: readText(value, 'creationTime'), prefixes: networks.value });
}

/** Reads a list's file. */
export function parseRangeFile(text: string): Result<RangeFile, string> {
  const value = parseRecord(text);
  if (value === null) return err('not a JSON object');
  const prefixes = readPrefixes(value);
  if (!prefixes.ok) return prefixes;
  return ok({
    url: readText(value, 'url'),
    etag: readText(value, 'etag'),
    fetchedAt: readText(value, 'fetchedAt'),
    creationTime: readText(value, 'creationTime'),
    prefixes: prefixes.value,
  });
}

/** The look-up of a list that was read. */
export function compileRangeList(file: RangeFile): Result<RangeList, string> {
  const dateMs = Date.parse(file.fetchedAt ?? file.creationTime ?? '');
  return Number.isNaN(dateMs)
    ? err('neither fetchedAt nor creationTime is a date')
    : ok({ prefixes: compilePrefixes(file.prefixes.flatMap(toPrefix)), dateMs });
}

/** Telegram's plain text: a network a line. */
function parseLines(text: string): Result<Pick<RangeFile, 'creationTime' | 'prefixes'>, string> {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const prefixes = checkPrefixes(
    lines.map((line) => (line.includes(':') ? { ipv6Prefix: line } : { ipv4Prefix: line })),
  );
  return prefixes.ok ? ok({ creationTime: null, prefixes: prefixes.value }) : prefixes;
}

function readPrefixes(value: UnknownRecord): Result<readonly PublishedPrefix[], string> {
  const list = value['prefixes'];
  if (!Array.isArray(list)) return err('no list of prefixes');
  const published: PublishedPrefix[] = [];
  for (const item of list) {
    const entry = fieldsOf(item);
    const [ipv4Prefix, ipv6Prefix] = [readText(entry, 'ipv4Prefix'), readText(entry, 'ipv6Prefix')];
    if (ipv4Prefix !== null) published.push({ ipv4Prefix });
    else if (ipv6Prefix !== null) published.push({ ipv6Prefix });
    else return err(`entry ${published.length + 1} is no prefix`);
  }
  return checkPrefixes(published);
}

function checkPrefixes(
  published: readonly PublishedPrefix[],
): Result<readonly PublishedPrefix[], string> {
  if (published.length === 0) return err('an empty list');
  if (published.length > PREFIXES_MAX) return err(`more than ${PREFIXES_MAX} prefixes`);
  const bad = published.find((prefix) => toPrefix(prefix).length === 0);
  return bad === undefined ? ok(published) : err(`not a network: ${textOf(bad).slice(0, 60)}`);
}

function toPrefix(published: PublishedPrefix): readonly Prefix[] {
  const prefix = parsePrefix(textOf(published));
  return prefix === null || prefix.length < PREFIX_LENGTH_MIN[prefix.bits] ? [] : [prefix];
}

function textOf(published: PublishedPrefix): string {
  return 'ipv4Prefix' in published ? published.ipv4Prefix : published.ipv6Prefix;
}

function readText(value: UnknownRecord, key: string): string | null {
  const text = value[key];
  return typeof text === 'string' ? text : null;
}
