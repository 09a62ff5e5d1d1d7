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
    { name: 'URL, made to agree', key: (text) => hashText(writeAgreeing(new URL(text), stripped)) },
  ];
}

/** What the straight version leaves as it came: triplets, double slashes, `+`, `b` without a `=`. */
function writeAgreeing(url: URL, stripped: ReadonlySet<string>): string {
  const path = url.pathname.replaceAll(/%[0-9a-f]{2}/gi, respell).replaceAll(/\/{2,}/g, '/');
  const pairs = [...url.searchParams]
    .filter(([name]) => !stripped.has(name.toLowerCase()))
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => encode(name) + (value === '' ? '' : `=${encode(value)}`));
  return `${url.origin}${path}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`;
}

function respell(triplet: string): string {
  const char = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
  return /[A-Za-z0-9\-._~]/.test(char) ? char : triplet.toUpperCase();
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
