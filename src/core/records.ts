// Values of which nothing is known yet: JSON that others wrote, words of other processes. They are
// looked at here first, and become a type field by field.

export type UnknownRecord = Readonly<Record<string, unknown>>;

/** Whether it is an object whose fields can be looked at, and no list. */
export function isRecord(value: unknown): value is UnknownRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Its fields; none of what is no record. */
export function fieldsOf(value: unknown): UnknownRecord {
  return isRecord(value) ? value : {};
}

/** What a text is as JSON; null: no record. */
export function parseRecord(text: string): UnknownRecord | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    // Whoever reads what may be anything has one answer for all that is not what it should be.
    return null;
  }
}

/** Whole, not negative, exact. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
