// A purge as JSON text and back, for the logs that keep it; its place is kept beside the text. What
// can't be read (damaged, or of a later version) still was a purge: it is taken to mean every page,
// because a page too few costs time and a page too many is a lie.

import { parseCacheKey } from '../key/cache-key.ts';
import { isCount, isRecord, parseRecord, type UnknownRecord } from '../records.ts';
import type { PurgeOrder, PurgeRecord, PurgeSelector } from './purge-record.ts';

/** Encodes what was ordered, and when. */
export function encodePurge({ selector, soft, undoes }: PurgeOrder, at: number): string {
  return JSON.stringify({ selector, soft, undoes, at });
}

/** Decodes what was kept at a place of the log. */
export function decodePurge(seq: number, text: string): PurgeRecord {
  const value = parseRecord(text);
  const selector = readSelector(value?.['selector']);
  const undoes = value?.['undoes'];
  if (value === null || selector === null || !(undoes === null || isCount(undoes))) {
    return { seq, at: 0, selector: { kind: 'all' }, soft: false, undoes: null };
  }
  const at = isCount(value['at']) ? value['at'] : 0;
  return { seq, at, selector, soft: value['soft'] === true, undoes };
}

function readSelector(value: unknown): PurgeSelector | null {
  if (!isRecord(value)) return null;
  const { kind, pattern, tag, hostId } = value;
  switch (kind) {
    case 'url':
      return readUrlSelector(value);
    case 'pattern':
      return typeof pattern === 'string' && isHost(hostId) ? { kind, pattern, hostId } : null;
    case 'tag':
      return typeof tag === 'string' && isHost(hostId) ? { kind, tag, hostId } : null;
    case 'host':
      return isCount(hostId) ? { kind, hostId } : null;
    case 'all':
      return { kind };
    default:
      return null;
  }
}

function readUrlSelector(value: UnknownRecord): PurgeSelector | null {
  const { url, keys, learned, dimensionId } = value;
  if (typeof url !== 'string' || !areKeys(keys)) return null;
  return {
    kind: 'url',
    url,
    keys,
    ...(typeof learned === 'string' && { learned }),
    ...(isCount(dimensionId) && { dimensionId }),
  };
}

function areKeys(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((key) => parseCacheKey(String(key)) !== null);
}

function isHost(value: unknown): value is number | null {
  return value === null || isCount(value);
}
