// What is known of header fields by their names. Most names mean nothing to anybody: they are told
// by their length and first letter, without making a text of them or looking one up.

/** Codes of a letter in either case end alike. */
const LETTERS = 32;
const NAME_CHARS_MAX = 32;

/** Looks a name up as it was written, in any case. */
export type NameTable<T> = (nameAsWritten: string) => T | undefined;

/** @param rows names in lower case, none longer than 32 characters */
export function createNameTable<T>(
  rows: Iterable<readonly [name: string, meaning: T]>,
): NameTable<T> {
  const meanings = new Map(rows);
  const isTaken = new Uint8Array(LETTERS * (NAME_CHARS_MAX + 1));
  for (const name of meanings.keys()) isTaken[placeOf(name)] = 1;
  return (nameAsWritten) => {
    if (isTaken[placeOf(nameAsWritten)] !== 1) return undefined;
    return meanings.get(nameAsWritten.toLowerCase());
  };
}

/** Beyond the table for a longer name. */
function placeOf(name: string): number {
  return name.length * LETTERS + (name.charCodeAt(0) & (LETTERS - 1));
}
