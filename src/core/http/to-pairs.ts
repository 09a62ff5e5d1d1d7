// Raw header lists, as Node and undici have them, as lists of pairs.
import type { HeaderList } from './header-list.ts';
import type { RawHeaders } from './hop-headers.ts';

/** Name, value, name, value … as pairs; a name without a value is left out. */
export function toPairs(raw: RawHeaders): HeaderList {
  const pairs: (readonly [string, string])[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    pairs.push([raw[index] ?? '', raw[index + 1] ?? '']);
  }
  return pairs;
}

/** As `toPairs`, for a raw list of texts whose type says otherwise: undici's is a record. */
export function toPairsUntyped(raw: unknown): HeaderList {
  if (!Array.isArray(raw)) throw new Error('raw header fields come as a list');
  return toPairs(raw.map(String));
}
