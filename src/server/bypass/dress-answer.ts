// The head of an answer that is passed on, as it leaves: what caches in front are told, and our own
// fields. The same for both ways, lane and long.

import { tellDownstream } from '../../core/http/tell-downstream.ts';
import { toPairs } from '../../core/http/to-pairs.ts';
import type { BypassTarget } from './ports.ts';

/** @param headers the origin's, as they may be passed on; may be changed */
export function dressAnswer(
  headers: string[],
  { downstream, extraResponseHeaders }: BypassTarget,
): string[] {
  const told =
    downstream === 'as_sent' ? headers : tellDownstream(toPairs(headers), downstream).flat();
  return withExtraHeaders(told, extraResponseHeaders);
}

/**
 * Ours replace the origin's; `Cache-Status` is a list to which every cache adds itself.
 *
 * @param headers is changed
 */
export function withExtraHeaders(
  headers: string[],
  extra: readonly (readonly [string, string])[],
): string[] {
  for (const [name] of extra) if (name !== 'Cache-Status') dropField(headers, name);
  for (const [name, value] of extra) headers.push(name, value);
  return headers;
}

function dropField(headers: string[], name: string): void {
  for (let at = headers.length - 2; at >= 0; at -= 2) {
    // Most names are told apart by their length.
    const isOfLength = headers[at]?.length === name.length;
    if (isOfLength && headers[at]?.toLowerCase() === name.toLowerCase()) headers.splice(at, 2);
  }
}
