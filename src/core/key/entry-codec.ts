// An entry as JSON text and back. What comes out of a store is data from outside: it is read field
// by field into a fresh object, and anything that could not be served safely (a header that would
// split a response, a field that frames the message, a status or time that makes no sense) makes
// the whole entry invalid.

import { TAG, TAGS_MAX } from '../purge/tag.ts';
import { isCount, isRecord, type UnknownRecord } from '../records.ts';
import { formatCacheKey, isDimensionId, isHash, isHostId } from './cache-key.ts';
import type { BodyDigest, BodyDigests, CacheKey, Entry } from './entry.ts';
import { readExchangeFields } from './exchange-codec.ts';
import { InvalidField, readInstant, readOwn, readStoredHeaders } from './read-fields.ts';

export type Decoded =
  | { readonly state: 'entry'; readonly entry: Entry }
  | { readonly state: 'expired' }
  /** Written by another version of the format: not ours to use, nor to delete. */
  | { readonly state: 'foreign' }
  | { readonly state: 'invalid'; readonly reason: string };

/** Longest text that is parsed at all; our own are a few kilobytes. */
export const ENTRY_CHARS_MAX = 256 * 1024;

/** No entry lives longer, whatever its times say. */
export const ENTRY_AGE_MAX_MS = 5 * 365 * 24 * 3_600_000;

/** How far the clocks of two machines may differ before a time counts as wrong. */
const CLOCK_SKEW_MAX_MS = 60_000;

const SCHEMA = 1;
const URL_TEXT = /^https?:\/\/[\x21-\x7e]+$/;

/** Hop-by-hop and framing fields, and what is never stored: delivery makes its own. */
const REFUSED_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Encodes an entry for a store. */
export function encodeEntry(entry: Entry): string {
  return JSON.stringify(entry);
}

/**
 * Decodes and verifies what a store holds under a key.
 *
 * @param text the stored text, however damaged
 * @param key the key it was found under; an entry that names another page is invalid
 * @param nowMs epoch milliseconds; times are clamped to it, so that a wrong clock at storing time
 *   makes an entry stale and never eternal
 */
export function decodeEntry(text: string, key: CacheKey, nowMs: number): Decoded {
  if (text.length > ENTRY_CHARS_MAX) return { state: 'invalid', reason: 'too_long' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { state: 'invalid', reason: 'not_json' };
  }
  if (!isRecord(value)) return { state: 'invalid', reason: 'not_an_object' };
  if (readOwn(value, 'schema') !== SCHEMA) return { state: 'foreign' };
  try {
    const entry = clampTimes(readEntry(value), nowMs);
    if (formatCacheKey(entry) !== key) {
      return { state: 'invalid', reason: 'other_key' };
    }
    return entry.deleteAt <= nowMs ? { state: 'expired' } : { state: 'entry', entry };
  } catch (error) {
    if (error instanceof InvalidField) return { state: 'invalid', reason: error.message };
    throw error;
  }
}

function readEntry(record: UnknownRecord): Entry {
  const field = <T>(name: string, accepts: (value: unknown) => value is T): T => {
    const value = readOwn(record, name);
    if (!accepts(value)) throw new InvalidField(`bad_${name}`);
    return value;
  };
  const entry: Entry = {
    schema: SCHEMA,
    url: field('url', isUrlText),
    hostId: field('hostId', isHostId),
    dimensionId: field('dimensionId', isDimensionId),
    hash: field('hash', isHash),
    source: field('source', isSource),
    status: field('status', isStatus),
    headers: readStoredHeaders(readOwn(record, 'headers'), REFUSED_HEADERS),
    cachedAt: field('cachedAt', isCount),
    staleAt: field('staleAt', isCount),
    deleteAt: field('deleteAt', isCount),
    modifiedAt: field('modifiedAt', isCount),
    bodies: readBodies(readOwn(record, 'bodies')),
    ...readPartial(record),
    ...readPurgeFields(record),
    ...readExchangeFields(record),
  };
  if (entry.staleAt < entry.cachedAt || entry.deleteAt < entry.staleAt) {
    throw new InvalidField('bad_time_order');
  }
  return entry;
}

/** An entry from the future is stale at once; nothing lives beyond the age limit. */
function clampTimes(entry: Entry, nowMs: number): Entry {
  const isFromFuture = entry.cachedAt > nowMs + CLOCK_SKEW_MAX_MS;
  const cachedAt = isFromFuture ? nowMs : entry.cachedAt;
  const deleteAt = Math.min(entry.deleteAt, cachedAt + ENTRY_AGE_MAX_MS);
  return {
    ...entry,
    cachedAt,
    staleAt: isFromFuture ? nowMs : Math.min(entry.staleAt, deleteAt),
    deleteAt,
    modifiedAt: Math.min(entry.modifiedAt, cachedAt),
  };
}

function readBodies(value: unknown): BodyDigests {
  if (!isRecord(value)) throw new InvalidField('bad_bodies');
  const identity = readDigest(readOwn(value, 'identity'));
  if (identity === undefined) throw new InvalidField('bad_bodies');
  const gzip = readDigest(readOwn(value, 'gzip'));
  const br = readDigest(readOwn(value, 'br'));
  return { identity, ...(gzip && { gzip }), ...(br && { br }) };
}

function readPartial(record: UnknownRecord): Pick<Entry, 'partial'> {
  const partial = readOwn(record, 'partial');
  if (partial === undefined) return {};
  if (partial !== true) throw new InvalidField('bad_partial');
  return { partial };
}

function readPurgeFields(record: UnknownRecord): Pick<Entry, 'tags' | 'since' | 'softened'> {
  const tags = readOwn(record, 'tags');
  const since = readOwn(record, 'since');
  const softened = readOwn(record, 'softened');
  return {
    ...(tags !== undefined && { tags: readTags(tags) }),
    ...(since !== undefined && { since: readInstant(since, 'bad_since') }),
    ...(softened !== undefined && { softened: readSoftened(softened) }),
  };
}

function readTags(value: unknown): readonly string[] | null {
  if (value === null) return null;
  if (!Array.isArray(value) || value.length > TAGS_MAX) throw new InvalidField('bad_tags');
  return value.map((tag: unknown) => {
    if (typeof tag !== 'string' || !TAG.test(tag)) throw new InvalidField('bad_tags');
    return tag;
  });
}

function readSoftened(value: unknown): NonNullable<Entry['softened']> {
  if (!isRecord(value)) throw new InvalidField('bad_softened');
  return {
    by: readInstant(readOwn(value, 'by'), 'bad_softened'),
    staleAt: readInstant(readOwn(value, 'staleAt'), 'bad_softened'),
  };
}

function readDigest(value: unknown): BodyDigest | undefined {
  if (value === undefined) return undefined;
  if (!isRecord(value)) throw new InvalidField('bad_bodies');
  const bytes = readOwn(value, 'bytes');
  const hash = readOwn(value, 'hash');
  if (!isCount(bytes) || !isHash(hash)) throw new InvalidField('bad_bodies');
  return { bytes, hash };
}

function isUrlText(value: unknown): value is string {
  return typeof value === 'string' && URL_TEXT.test(value);
}

function isSource(value: unknown): value is Entry['source'] {
  return value === 'render' || value === 'origin';
}

function isStatus(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value <= 599;
}
