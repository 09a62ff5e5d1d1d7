// Reads a dictionary of RFC 9651 §4.2.2, as strictly as it asks for: one character out of place and
// there is no dictionary. Values are told apart only as far as somebody needs them.

export type BareItem =
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'integer'; readonly value: number }
  /** A decimal, token, date or byte sequence. */
  | { readonly kind: 'other' };

export type DictionaryMember =
  | BareItem
  | { readonly kind: 'list'; readonly items: readonly BareItem[] };

const KEY = '[a-z*][a-z0-9_.*-]*';
const STRING = String.raw`"(?:[ !#-\[\]-~]|\\["\\])*"`;
const BARE = [
  String.raw`\?[01]`,
  STRING,
  String.raw`-?[0-9]{1,12}\.[0-9]{1,3}`,
  '-?[0-9]{1,15}',
  "[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*",
  ':[A-Za-z0-9+/=]*:',
  '@-?[0-9]{1,15}',
  '%"(?:[ !#$&-~]|%[0-9a-f]{2})*"',
].join('|');
/** Parameters of an item mean nothing to anybody here. */
const PARAMETERS = `(?:; *${KEY}(?:=(?:${BARE}))?)*`;
const ITEM = `(?:${BARE})${PARAMETERS}`;
/** Captures what is between the parentheses. */
const LIST = String.raw`\( *((?:${ITEM}(?: +${ITEM})*)?) *\)${PARAMETERS}`;

/** A key; then a list, an item, or nothing, which is `true`. */
const MEMBER = new RegExp(`(${KEY})(?:=(?:${LIST}|(${ITEM}))|${PARAMETERS})`, 'y');
const COMMA = /[ \t]*,[ \t]*/y;
const BARE_ITEM = new RegExp(`(${BARE})${PARAMETERS}`, 'g');

/** @returns null for what is no dictionary; of a key that comes twice the last one counts */
export function parseDictionary(text: string): ReadonlyMap<string, DictionaryMember> | null {
  const rest = text.replace(/^ +| +$/g, '');
  const members = new Map<string, DictionaryMember>();
  if (rest === '') return members;
  for (let at = 0; ; ) {
    MEMBER.lastIndex = at;
    const [member = '', key = '', list, item] = MEMBER.exec(rest) ?? [];
    if (member === '') return null;
    members.set(key, readMember(list, item));
    at += member.length;
    if (at === rest.length) return members;
    COMMA.lastIndex = at;
    const comma = COMMA.exec(rest)?.[0];
    if (comma === undefined) return null;
    at += comma.length;
  }
}

function readMember(list: string | undefined, item: string | undefined): DictionaryMember {
  if (list !== undefined) return { kind: 'list', items: readItems(list) };
  if (item === undefined) return { kind: 'boolean', value: true };
  return readItems(item)[0] ?? { kind: 'other' };
}

function readItems(text: string): readonly BareItem[] {
  return [...text.matchAll(BARE_ITEM)].map(([, bare = '']) => {
    if (bare.startsWith('?')) return { kind: 'boolean', value: bare === '?1' };
    if (/^-?[0-9]+$/.test(bare)) return { kind: 'integer', value: Number(bare) };
    if (!bare.startsWith('"')) return { kind: 'other' };
    return { kind: 'string', value: bare.slice(1, -1).replace(/\\(["\\])/g, '$1') };
  });
}
