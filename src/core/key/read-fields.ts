// How the fields of stored metadata are read: own fields only, each checked, headers such that
// writing them can't split an answer.
import { type HeaderList, isFieldName, isFieldValue } from '../http/header-list.ts';
import { LIMITS } from '../limits.ts';
import { isCount, type UnknownRecord } from '../records.ts';

/** A field that is not as it must be; caught in decodeEntry, never seen outside. */
export class InvalidField extends Error {}

/** Reads an own field only: `__proto__` and `constructor` of the text are never looked into. */
export function readOwn(record: UnknownRecord, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

export function readInstant(value: unknown, reason: string): number {
  if (!isCount(value)) throw new InvalidField(reason);
  return value;
}

/** @param refused lower-case names that must not be there */
export function readStoredHeaders(value: unknown, refused: ReadonlySet<string>): HeaderList {
  if (!Array.isArray(value) || value.length > LIMITS.storedFieldsMax) {
    throw new InvalidField('bad_headers');
  }
  return value.map((pair: unknown): readonly [string, string] => {
    if (!Array.isArray(pair) || pair.length !== 2) throw new InvalidField('bad_headers');
    const [name, text]: unknown[] = pair;
    if (typeof name !== 'string' || !isFieldName(name)) {
      throw new InvalidField('bad_header_name');
    }
    if (refused.has(name.toLowerCase())) throw new InvalidField('refused_header');
    if (typeof text !== 'string' || !isFieldValue(text)) {
      throw new InvalidField('bad_header_value');
    }
    return [name, text];
  });
}
