// `headers` of one level, and what a header value of ours may be. Nothing that identifies a client
// or belongs to one connection can be put on a list: what passes here ends up in a shared page.
import { isFieldName } from '../../core/http/header-list.ts';
import { type ConfigNode, reportError, showValue } from '../config-node.ts';
import { type FieldTable, readFields, readList } from '../read-values.ts';

export interface HeaderBlock {
  readonly safeRequest?: readonly string[];
  readonly safeRequestAdd?: readonly string[];
  readonly safeResponse?: readonly string[];
  readonly safeResponseAdd?: readonly string[];
}

/** RFC 9110 §5.5, without obs-text: what we write ourselves is ASCII. */
const VALUE = /^[\t\x20-\x7e]*$/;

const NEVER: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'keep-alive',
  'te',
  'trailer',
  'cookie',
  'set-cookie',
  'authorization',
  'www-authenticate',
  'authentication-info',
]);

const FIELDS: FieldTable<Required<HeaderBlock>> = {
  safeRequest: ['safe_request', readList(readSafeName)],
  safeRequestAdd: ['safe_request_add', readList(readSafeName)],
  safeResponse: ['safe_response', readList(readSafeName)],
  safeResponseAdd: ['safe_response_add', readList(readSafeName)],
};

export function readHeaderBlock(node: ConfigNode | undefined): HeaderBlock {
  return readFields(node, FIELDS);
}

export function isAsciiValue(text: string): boolean {
  return VALUE.test(text);
}

function readSafeName(node: ConfigNode): string | undefined {
  if (typeof node.value !== 'string') return undefined;
  const name = node.value.toLowerCase();
  if (!isFieldName(name)) {
    reportError(node, `${showValue(node)} is no header name`, 'letters, digits and "-" only');
    return undefined;
  }
  if (NEVER.has(name) || name.startsWith('proxy-')) {
    reportError(
      node,
      `${showValue(node)} can't be a safe header`,
      'stored pages are shared: credentials, cookies and connection headers never pass',
    );
    return undefined;
  }
  return name;
}
