// A cursor into one document: a value together with its place. Readers ask a node for what they
// need and get undefined when it is absent or of the wrong type; the wrong type was already
// reported by validate-shape, so that one mistake never hides the others.
import { isRecord } from '../core/records.ts';
import { formatPlace, type SourcePlace } from './diagnostic.ts';
import { type ConfigDocument, placeOf } from './parse-yaml.ts';
import { escapePointer } from './source-map.ts';

export interface ConfigNode {
  readonly document: ConfigDocument;
  /** JSON pointer, RFC 6901. */
  readonly pointer: string;
  readonly value: unknown;
}

/** What a value is refused for. */
export interface Fault {
  readonly message: string;
  readonly hint: string | null;
}

/** Keys whose values are never shown, wherever they stand; any address of Redis may hold one. */
const SECRET_KEYS = /^\/redis\/|(?:^|\/)(?:password|token|render_key|auth_key|url)$/;
const CREDENTIALS = /\/\/[^/]*@/;

export function rootOf(document: ConfigDocument): ConfigNode {
  return { document, pointer: '', value: document.value };
}

/** The node below a map's key; undefined when the node is no map or lacks the key. */
export function childOf(node: ConfigNode | undefined, key: string): ConfigNode | undefined {
  if (node === undefined || !isRecord(node.value) || !Object.hasOwn(node.value, key))
    return undefined;
  const pointer = `${node.pointer}/${escapePointer(key)}`;
  return { document: node.document, pointer, value: node.value[key] };
}

/** Follows several keys. */
export function descend(node: ConfigNode | undefined, path: string): ConfigNode | undefined {
  return path.split('.').reduce(childOf, node);
}

/** The items of a list; a single value counts as a list of one where `allowSingle` says so. */
export function itemsOf(node: ConfigNode | undefined, allowSingle = false): readonly ConfigNode[] {
  if (node === undefined) return [];
  if (!Array.isArray(node.value)) return allowSingle ? [node] : [];
  return node.value.map((value: unknown, index) => ({
    document: node.document,
    pointer: `${node.pointer}/${index}`,
    value,
  }));
}

/** The entries of a map, in file order. */
export function entriesOf(
  node: ConfigNode | undefined,
): readonly (readonly [string, ConfigNode])[] {
  if (node === undefined || !isRecord(node.value)) return [];
  return Object.keys(node.value).flatMap((key) => {
    const child = childOf(node, key);
    return child === undefined ? [] : [[key, child] as const];
  });
}

function placeOfNode(node: ConfigNode): SourcePlace {
  return placeOf(node.document, node.pointer, 'value');
}

/** `file:line:column` of a node, for messages that name a second place. */
export function namePlace(node: ConfigNode): string {
  return formatPlace(placeOfNode(node));
}

export function reportError(node: ConfigNode, message: string, hint: string | null = null): void {
  node.document.problems.add({ ...placeOfNode(node), severity: 'error', message, hint });
}

export function reportWarning(node: ConfigNode, message: string, hint: string | null): void {
  const place = placeOf(node.document, node.pointer, 'key');
  node.document.problems.add({ ...place, severity: 'warning', message, hint });
}

/** A value as a message may show it: quoted, shortened, secrets hidden. */
export function showValue(node: ConfigNode): string {
  if (isSecret(node)) return '<hidden>';
  const text = typeof node.value === 'string' ? `"${node.value}"` : JSON.stringify(node.value);
  if (text === undefined) return 'nothing';
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

/** Whether no message may show the value. */
export function isSecret(node: ConfigNode): boolean {
  if (node.document.hidden.has(node.pointer) || SECRET_KEYS.test(node.pointer)) return true;
  return typeof node.value === 'string' && CREDENTIALS.test(node.value);
}
