// Cache-Control as a list of directives. Never throws: a malformed directive keeps its name, so
// that a damaged `private=` still forbids (RFC 9111 §5.2). In what can't be read, every
// word that forbids counts, because nobody knows what its author meant to quote or to separate.

export interface CacheDirective {
  /** Lower case; empty where there is none to be found. */
  readonly name: string;
  /** The argument without its quotes; null when there is none. */
  readonly argument: string | null;
  /** The argument read as a list of field names, lower case. */
  readonly fields: readonly string[];
  /** false: it is not written as a directive is, so nobody knows what else it says. */
  readonly isWhole: boolean;
}

/** What stands between two commas that are not in quotes; a quote may lack its end. */
const MEMBER = /(?:"(?:[^"\\]|\\.)*(?:"|\\?$)|[^",])+/g;
/** One directive: a name, then an argument, quoted or bare. */
const DIRECTIVE = /^([^\s,;="]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,;="]+)))?$/;
/** As much of it as can be found: the argument perhaps without its end. */
const DAMAGED = /([^\s,;="]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)|([^,]*)))?/;
const FORBIDS: ReadonlySet<string> = new Set(['no-cache', 'no-store', 'private']);

/** Parses one line of `Cache-Control` or `CDN-Cache-Control`. */
export function parseCacheControl(value: string): readonly CacheDirective[] {
  const members = (value.match(MEMBER) ?? []).map((member) => member.trim());
  return members.filter((member) => member !== '').flatMap(parseMember);
}

function parseMember(member: string): readonly CacheDirective[] {
  const read = DIRECTIVE.exec(member);
  if (read !== null) return [toDirective(read, true)];
  const directive = toDirective(DAMAGED.exec(member) ?? [], false);
  const words = member.toLowerCase().split(/[^a-z0-9_-]+/);
  const others = new Set(words.filter((word) => FORBIDS.has(word) && word !== directive.name));
  return [directive, ...[...others].map((word) => toDirective(['', word], false))];
}

function toDirective([, name = '', quoted, bare]: readonly string[], isWhole: boolean) {
  const argument = quoted ?? bare?.trim() ?? null;
  const fields = (argument ?? '')
    .split(',')
    .map((field) => field.trim().toLowerCase())
    .filter((field) => field !== '');
  return { name: name.toLowerCase(), argument, fields, isWhole };
}
