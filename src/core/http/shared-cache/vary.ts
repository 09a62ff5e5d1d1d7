// Which request fields an answer was chosen by, and their values in one form, so that requests that
// mean the same find the same variant (RFC 9111 §4.1). Only what provably means the same is made
// the same: repeated lines, and in fields that are known to be lists white space and case.
import { fieldMembers, type HeaderList, headerValues, isFieldName } from '../header-list.ts';

/** An answer that is chosen by more than these has more variants than hits. */
const NAMES_MAX = 16;
/** Lists without case. Of any other field nobody knows what a comma or a space in it means. */
const LISTS: ReadonlySet<string> = new Set(['accept', 'accept-encoding', 'accept-language']);

/**
 * Lower-case names in order; null: chosen by what no cache can know, or by who the client is.
 * `Cookie` does not count: a request with cookies gets here only where the host has said that
 * they don't matter.
 */
export function varyNames(headers: HeaderList): readonly string[] | null {
  const names = new Set(fieldMembers(headers, 'vary').map((name) => name.toLowerCase()));
  names.delete('cookie');
  const isKnown = [...names].every((name) => name !== '*' && isFieldName(name));
  if (!isKnown || names.has('authorization') || names.size > NAMES_MAX) return null;
  return [...names].toSorted();
}

/**
 * The selecting fields of a request; one that it doesn't have is left out.
 *
 * @param request as it goes to the origin
 */
export function selectingFields(names: readonly string[], request: HeaderList): HeaderList {
  return names.flatMap((name) => {
    const values = headerValues(request, name);
    return values.length === 0 ? [] : [[name, normalizeValue(name, values)] as const];
  });
}

/** Whether two requests are one to the origin. */
export function isSameSelection(one: HeaderList, other: HeaderList): boolean {
  return (
    one.length === other.length &&
    one.every(([name, value], i) => other[i]?.[0] === name && other[i]?.[1] === value)
  );
}

function normalizeValue(name: string, values: readonly string[]): string {
  const joined = values.map((value) => value.trim()).join(', ');
  if (!LISTS.has(name)) return joined;
  // White space inside of a quoted string is part of it.
  if (joined.includes('"')) return joined.trim();
  const members = joined
    .split(',')
    .map((member) => member.trim().replace(/[ \t]*;[ \t]*/g, ';'))
    .filter((member) => member !== '');
  return members.join(', ').toLowerCase();
}
