// What an answer says about caching, read strictly: `CDN-Cache-Control` (RFC 9213) where it is a
// dictionary with something in it, else `Cache-Control` (RFC 9111 §5.2.2). Whatever can't be
// understood forbids and allows nothing: a damaged `private=` is private, a number that is none is
// 0, and a line that can't be read says at least that it wants to be asked.

import { createRecentMap } from '../../recent-map.ts';
import { type CacheDirective, parseCacheControl } from '../cache-control.ts';
import { type HeaderList, headerValues, isFieldName } from '../header-list.ts';
import { type DictionaryMember, parseDictionary } from '../structured-dictionary.ts';

export interface ResponseDirectives {
  readonly noStore: boolean;
  readonly isPrivate: boolean;
  readonly noCache: boolean;
  /** Lower-case names that `private="…"` and `no-cache="…"` keep from everybody else. */
  readonly withheld: ReadonlySet<string>;
  readonly isPublic: boolean;
  readonly mustUnderstand: boolean;
  readonly mustRevalidate: boolean;
  readonly proxyRevalidate: boolean;
  readonly isImmutable: boolean;
  /** Seconds; null: not said. */
  readonly sMaxAge: number | null;
  readonly maxAge: number | null;
  readonly staleWhileRevalidate: number | null;
  readonly staleIfError: number | null;
  /** false: something in it can't be read, so nobody may say that it is silent. */
  readonly isReadable: boolean;
  /** `CDN-Cache-Control` speaks: `Cache-Control`, `Expires` and `Pragma` don't count for us. */
  readonly isTargeted: boolean;
}

type Directives = ReadonlyMap<string, readonly CacheDirective[]>;

/** Larger numbers are as good as infinite (RFC 9111 §1.2.2). */
const SECONDS_MAX = 2_147_483_648;

/** A site says the same few things all the time. */
const MEMO_MAX = 500;
const MEMO_CHARS_MAX = 500;
const memo = createRecentMap<ResponseDirectives>(MEMO_MAX);

export function readResponseDirectives(headers: HeaderList): ResponseDirectives {
  const said: Said = {
    targeted: headerValues(headers, 'cdn-cache-control'),
    general: headerValues(headers, 'cache-control'),
    pragma: headerValues(headers, 'pragma'),
  };
  const key = JSON.stringify(said);
  const known = memo.get(key);
  if (known !== undefined) return known;
  const directives = readSaid(said);
  if (key.length <= MEMO_CHARS_MAX) memo.set(key, directives);
  return directives;
}

/** The lines of the fields that count. */
interface Said {
  readonly targeted: readonly string[];
  readonly general: readonly string[];
  readonly pragma: readonly string[];
}

function readSaid({ targeted: forUs, general, pragma }: Said): ResponseDirectives {
  const targeted = readTargeted(forUs);
  const directives = targeted ?? readCacheControl(general);
  const has = (name: string): boolean => directives.has(name);
  const whole = (name: string): boolean => (directives.get(name) ?? []).some(meansWhole);
  const allows = (name: string): boolean =>
    (directives.get(name) ?? []).some(({ isWhole }) => isWhole);
  const isReadable = [...directives.values()].flat().every(({ isWhole }) => isWhole);
  const isPragma = directives.size === 0 && saysNoCache(pragma);
  return {
    noStore: has('no-store'),
    isPrivate: whole('private'),
    noCache: whole('no-cache') || isPragma,
    withheld: new Set(['private', 'no-cache'].flatMap((name) => fieldsOf(directives.get(name)))),
    isPublic: allows('public'),
    mustUnderstand: has('must-understand'),
    // It lets answers to credentials be kept as well; that stale ones are out is said below.
    mustRevalidate: allows('must-revalidate'),
    proxyRevalidate: has('proxy-revalidate') || !isReadable,
    isImmutable: allows('immutable'),
    sMaxAge: readSeconds(directives.get('s-maxage')),
    maxAge: readSeconds(directives.get('max-age')),
    staleWhileRevalidate: readSeconds(directives.get('stale-while-revalidate')),
    staleIfError: readSeconds(directives.get('stale-if-error')),
    isReadable,
    isTargeted: targeted !== null,
  };
}

function readCacheControl(lines: readonly string[]): Directives {
  return groupByName(lines.flatMap(parseCacheControl));
}

/** RFC 9213 §2.1: what is no dictionary, or an empty one, is as good as absent. */
function readTargeted(lines: readonly string[]): Directives | null {
  const members = lines.length === 0 ? null : parseDictionary(lines.join(', '));
  if (members === null || members.size === 0) return null;
  const directives = [...members].flatMap(([name, member]) => toDirective(name, member));
  return groupByName(directives);
}

function toDirective(name: string, member: DictionaryMember): readonly CacheDirective[] {
  const directive = (argument: string | null): CacheDirective => ({
    name,
    argument,
    fields: [],
    isWhole: true,
  });
  switch (member.kind) {
    case 'boolean':
      return member.value ? [directive(null)] : [];
    case 'integer':
      return [directive(String(member.value))];
    default:
      // A number as a string is no number here, however it reads.
      return [directive('?')];
  }
}

function groupByName(directives: readonly CacheDirective[]): Directives {
  const groups = new Map<string, CacheDirective[]>();
  for (const directive of directives) {
    groups.set(directive.name, [...(groups.get(directive.name) ?? []), directive]);
  }
  return groups;
}

/** The directive is about the whole answer, not about fields that it names. */
function meansWhole({ argument, fields, isWhole }: CacheDirective): boolean {
  const isNamed = fields.length > 0 && fields.every((name) => name !== '*' && isFieldName(name));
  return argument === null || !isWhole || !isNamed;
}

function fieldsOf(directives: readonly CacheDirective[] | undefined): readonly string[] {
  return (directives ?? []).flatMap(({ fields }) => fields);
}

/** The smallest, when it is said more than once. */
function readSeconds(directives: readonly CacheDirective[] | undefined): number | null {
  if (directives === undefined) return null;
  return Math.min(...directives.map(({ argument }) => parseSeconds(argument) ?? 0));
}

/** `delta-seconds` of RFC 9111 §1.2.2, or null. */
export function parseSeconds(text: string | null): number | null {
  return text !== null && /^[0-9]+$/.test(text) ? Math.min(Number(text), SECONDS_MAX) : null;
}

function saysNoCache(pragma: readonly string[]): boolean {
  return pragma.flatMap(parseCacheControl).some(({ name }) => name === 'no-cache');
}
