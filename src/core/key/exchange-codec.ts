// The part of an entry that only answers have which were passed on, read from a store: field by
// field, like the rest.

import { isFieldName } from '../http/header-list.ts';
import { isRecord, type UnknownRecord } from '../records.ts';
import { isHash } from './cache-key.ts';
import type { Entry, StoredExchange, VariantIndex } from './entry.ts';
import { InvalidField, readInstant, readOwn, readStoredHeaders } from './read-fields.ts';

/** Hop-by-hop and framing fields, those of one client, and what delivery makes anew. */
const REFUSED: ReadonlySet<string> = new Set([
  'age',
  'connection',
  'content-length',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'set-cookie',
  'set-cookie2',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const NONE_REFUSED: ReadonlySet<string> = new Set();

/** Most variants of one URL; more would be more misses than hits. */
export const VARIANTS_MAX = 32;

export function readExchangeFields(record: UnknownRecord): Pick<Entry, 'exchange' | 'variants'> {
  const exchange = readOwn(record, 'exchange');
  const variants = readOwn(record, 'variants');
  return {
    ...(exchange !== undefined && { exchange: readExchange(exchange) }),
    ...(variants !== undefined && { variants: readVariants(variants) }),
  };
}

function readExchange(value: unknown): StoredExchange {
  if (!isRecord(value)) throw new InvalidField('bad_exchange');
  return {
    headers: readStoredHeaders(readOwn(value, 'headers'), REFUSED),
    initialAgeMs: readInstant(readOwn(value, 'initialAgeMs'), 'bad_exchange'),
    selecting: readStoredHeaders(readOwn(value, 'selecting'), NONE_REFUSED),
  };
}

function readVariants(value: unknown): VariantIndex {
  if (!isRecord(value)) throw new InvalidField('bad_variants');
  return {
    names: readList(readOwn(value, 'names'), isFieldName),
    generation: readInstant(readOwn(value, 'generation'), 'bad_variants'),
    hashes: readList(readOwn(value, 'hashes'), isHash),
  };
}

function readList(value: unknown, accepts: (text: string) => boolean): readonly string[] {
  if (!Array.isArray(value) || value.length > VARIANTS_MAX) throw new InvalidField('bad_variants');
  return value.map((text: unknown) => {
    if (typeof text !== 'string' || !accepts(text)) throw new InvalidField('bad_variants');
    return text;
  });
}
