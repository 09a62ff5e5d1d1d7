// How others would make the key: the same names stripped, the same order, the same hash.
import normalizeUrl from 'normalize-url';

export interface Contender {
  readonly name: string;
  readonly key: (url: string) => string;
}

/** @param names what is stripped, in lower case */
export function createRivals(
  names: readonly string[],
  hashText: (text: string) => string,
): readonly Contender[] {
  const expressions = names.map((name) => new RegExp(`^${name}$`, 'i'));
  const stripped = new Set(names);
  return [
    {
      name: 'normalize-url',
      key: (url) =>
        hashText(
          normalizeUrl(url, {
            removeQueryParameters: expressions,
            stripWWW: false,
            removeTrailingSlash: false,
            removeSingleSlash: false,
            stripHash: true,
            stripTextFragment: false,
          }),
        ),
    },
    {
      name: 'URL + URLSearchParams',
      key: (text) => {
        const url = new URL(text);
        const { searchParams } = url;
        for (const name of [...searchParams.keys()]) {
          if (stripped.has(name.toLowerCase())) searchParams.delete(name);
        }
        searchParams.sort();
        url.hash = '';
        return hashText(url.href);
      },
    },
  ];
}
