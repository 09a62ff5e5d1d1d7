// `status` of a rule: an answer of the gateway's own.
import { isFieldName } from '../../core/http/header-list.ts';
import type { StatusAnswer } from '../../core/policy/policy.ts';
import { type ConfigNode, childOf, descend, entriesOf, reportError } from '../config-node.ts';
import { readAt, readNumber, readText } from '../read-values.ts';
import { isAsciiValue } from './headers-block.ts';

/** Actions that imply a status; `block` is the reference engine's word for 403. */
export const IMPLIED_STATUS: ReadonlyMap<string, number> = new Map([
  ['block', 403],
  ['status_403', 403],
  ['status_404', 404],
  ['status_410', 410],
]);

/** Framing belongs to the server, whatever a rule says. */
const NOT_SETTABLE: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'transfer-encoding',
  'trailer',
  'upgrade',
]);

/** Reads the answer of a status rule. */
export function readStatus(item: ConfigNode, implied: number | undefined): StatusAnswer | null {
  const node = childOf(item, 'status');
  const codeNode = descend(node, 'code');
  const code = readAt(node, 'code', readNumber) ?? implied;
  if (code === undefined) {
    if (codeNode === undefined) {
      const place = node ?? childOf(item, 'action') ?? item;
      reportError(place, '`action: status` needs `status.code`', 'write status: { code: 410 }');
    }
    return null;
  }
  const headers = entriesOf(descend(node, 'headers')).flatMap(readHeader);
  const hasLocation = headers.some(([name]) => name.toLowerCase() === 'location');
  if (code >= 300 && code < 400 && code !== 304 && !hasLocation) {
    reportError(
      codeNode ?? item,
      `status ${code} needs a Location header`,
      'add it to status.headers',
    );
  }
  return { code, reason: readAt(node, 'reason', readText) ?? null, headers };
}

function readHeader([name, node]: readonly [string, ConfigNode]): readonly (readonly [
  string,
  string,
])[] {
  const value = readText(node);
  if (value === undefined) return [];
  if (!isFieldName(name)) {
    reportError(node, `"${name}" is no header name`, 'letters, digits and "-" only');
    return [];
  }
  if (NOT_SETTABLE.has(name.toLowerCase())) {
    reportError(node, `"${name}" is written by the gateway itself`, null);
    return [];
  }
  if (!isAsciiValue(value)) {
    reportError(node, `the value of "${name}" has a line break or a non-ASCII character`);
    return [];
  }
  return [[name, value]];
}
