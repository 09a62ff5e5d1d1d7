// URLs as crawlers ask for them, the same in every run: mostly short queries with a tracking
// parameter or two, some without any, some long, some encoded, some with many parameters.

/** Uniform over 0 to 1, the same for one seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const NAMES =
  'page color size sort brand q category id variant lang price min max filter view'.split(' ');
const TRACKING = 'utm_source utm_medium utm_campaign gclid fbclid _ga mc_cid ref srsltid'.split(
  ' ',
);
const WORDS = 'shoes running women blue sale summer jackets outdoor gear deals news post'.split(
  ' ',
);
const ENCODED = ['caf%c3%a9', 'a%20b', '%7Euser', 'x+y', '%E4%B8%AD', 'größe', '日本', 'a%2Fb'];

export type UrlKind = 'usual' | 'plain' | 'encoded' | 'many' | 'odd';

/** How often each kind comes in the mix, in percent. */
const SHARES: readonly (readonly [UrlKind, number])[] = [
  ['usual', 60],
  ['plain', 15],
  ['encoded', 10],
  ['many', 10],
  ['odd', 5],
];

/** URLs of one kind; no two are the same. */
export function makeUrls(kind: UrlKind, count: number, seed = 1): readonly string[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_unused, place) => makeUrl(kind, place, random));
}

/** The mix, in random order. */
export function makeMix(count: number, seed = 1): readonly string[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_unused, place) =>
    makeUrl(pickKind(random), place, random),
  );
}

/** One URL with so many parameters. */
export function makeLong(params: number, valueChars: number): string {
  const pairs = Array.from({ length: params }, (_unused, place) => {
    const name = `p${(place * 7919) % params}`;
    return `${name}=${'v'.repeat(valueChars)}`;
  });
  return `https://shop.example/list?${pairs.join('&')}`;
}

function pickKind(random: () => number): UrlKind {
  let left = random() * 100;
  for (const [kind, share] of SHARES) {
    left -= share;
    if (left < 0) return kind;
  }
  return 'usual';
}

function makeUrl(kind: UrlKind, place: number, random: () => number): string {
  const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? '';
  const path = `/${pick(WORDS)}/${pick(WORDS)}-${pick(WORDS)}-${place}`;
  const pairs = (count: number, value: () => string): string =>
    Array.from({ length: count }, () => `${pick(NAMES)}=${value()}`).join('&');
  const number = (): string => String(Math.floor(random() * 1_000));
  switch (kind) {
    case 'usual': {
      const own = pairs(1 + Math.floor(random() * 3), number);
      return `https://shop.example${path}?${own}&${pick(TRACKING)}=${number()}${number()}`;
    }
    case 'plain':
      return `https://shop.example${path}`;
    case 'encoded':
      return `https://shop.example${path}/${pick(ENCODED)}?${pairs(3, () => pick(ENCODED))}`;
    case 'many':
      return `https://shop.example${path}?${pairs(10 + Math.floor(random() * 31), number)}`;
    case 'odd':
      return `HTTPS://Shop.Example:443/a/../.${path}//x?b&&${pairs(2, number)}#top`;
  }
}

/** A list to strip of names, wildcards and expressions; most of it matches nothing here. */
export function makePatterns(count: number): readonly string[] {
  return Array.from({ length: count }, (_unused, place) => {
    if (place % 10 === 7) return `track${place}_*`;
    if (place % 10 === 8) return `*_campaign${place}`;
    if (place % 10 === 9) return `~^(x|y)${place}_[0-9]+$`;
    return TRACKING[place] ?? `name${place}`;
  });
}
