// `dimensions` and `unmatched_dimension`. A map replaces the inherited one as a whole; the built-in
// `bypass`, id 0, is always there.
import type { Dimension, DimensionAction } from '../../core/policy/policy.ts';
import { type Catalog, expandAliases } from '../catalog.ts';
import {
  type ConfigNode,
  childOf,
  entriesOf,
  itemsOf,
  namePlace,
  reportError,
  reportWarning,
} from '../config-node.ts';
import { readCrawlers } from '../read-crawlers.ts';
import { readAt, readNumber, readText, readWord } from '../read-values.ts';
import { suggestWord } from '../suggest-key.ts';
import { isAsciiValue } from './headers-block.ts';

const BYPASS = 'bypass';
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;
const LOCALE = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/;
const DEFAULT_SIZE = { width: 1_920, height: 1_080 };

/** What a page sees when a dimension names no User-Agent of its own. */
const DEFAULT_RENDER_UA =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) ' +
  'Chrome/142.0.0.0 Safari/537.36 edge-gateway';

const BUILT_IN_BYPASS: Dimension = {
  id: 0,
  name: BYPASS,
  action: 'bypass',
  ...DEFAULT_SIZE,
  renderUserAgent: DEFAULT_RENDER_UA,
  locale: null,
  matchUserAgent: [],
};

/** Reads one `dimensions` map. */
export function readDimensions(node: ConfigNode, catalog: Catalog): readonly Dimension[] {
  const dimensions: Dimension[] = [];
  const idNodes = new Map<number, ConfigNode>();
  for (const [name, child] of entriesOf(node)) {
    if (!NAME.test(name) || name === 'block') {
      reportError(child, `"${name}" can't be the name of a dimension`, 'letters, digits, "_", "-"');
      continue;
    }
    const dimension = readDimension(name, child, catalog);
    if (dimension === undefined) continue;
    const idNode = childOf(child, 'id') ?? child;
    const other = idNodes.get(dimension.id);
    if (other !== undefined) {
      reportError(idNode, `dimension id ${dimension.id} is taken at ${namePlace(other)}`);
    }
    idNodes.set(dimension.id, idNode);
    dimensions.push(dimension);
  }
  const hasBypass = dimensions.some(({ name }) => name === BYPASS);
  return hasBypass ? dimensions : [BUILT_IN_BYPASS, ...dimensions];
}

/** Reads `unmatched_dimension`, which may name an inherited dimension. */
export function readUnmatched(
  node: ConfigNode,
  dimensions: readonly Dimension[],
): Dimension | 'block' | undefined {
  if (typeof node.value !== 'string') return undefined;
  if (node.value === 'block') return 'block';
  return findDimension(node, dimensions);
}

/** The dimension a value names; reports an unknown name. */
export function findDimension(
  node: ConfigNode,
  dimensions: readonly Dimension[],
): Dimension | undefined {
  const found = dimensions.find(({ name }) => name === node.value);
  if (found !== undefined || typeof node.value !== 'string') return found;
  const names = dimensions.map(({ name }) => name);
  const near = suggestWord(node.value, names);
  reportError(
    node,
    `unknown dimension "${node.value}"`,
    near === null ? `known: ${names.join(', ')}` : `did you mean "${near}"?`,
  );
  return undefined;
}

function readDimension(name: string, node: ConfigNode, catalog: Catalog): Dimension | undefined {
  const idNode = childOf(node, 'id');
  const id = readAt(node, 'id', readNumber);
  if (id === undefined && name !== BYPASS) {
    if (idNode === undefined)
      reportError(node, `dimension "${name}" has no id`, 'write id: 1 or more');
    return undefined;
  }
  if (idNode !== undefined && (id === 0) !== (name === BYPASS)) {
    reportError(idNode, 'id 0 belongs to the dimension "bypass" and to no other', null);
    return undefined;
  }
  const matchUserAgent = readAt(node, 'match_ua', (list) => expandAliases(list, catalog)) ?? [];
  warnRobotsOnly(childOf(node, 'match_ua'));
  return {
    id: id ?? 0,
    name,
    action: readAction(name, node, matchUserAgent.length),
    width: readAt(node, 'width', readNumber) ?? DEFAULT_SIZE.width,
    height: readAt(node, 'height', readNumber) ?? DEFAULT_SIZE.height,
    renderUserAgent: readAt(node, 'render_ua', readRenderUserAgent) ?? DEFAULT_RENDER_UA,
    locale: readAt(node, 'locale', readLocale) ?? null,
    matchUserAgent,
  };
}

/** Harmless, but whoever writes it expects something of it. */
function warnRobotsOnly(list: ConfigNode | undefined): void {
  for (const item of itemsOf(list)) {
    const folded = String(item.value).toLowerCase();
    const name = readCrawlers().robotsOnly.find((one) => folded.includes(one.toLowerCase()));
    if (name === undefined) continue;
    reportWarning(
      item,
      `"${name}" is a name for robots.txt: no client sends it`,
      'remove it; its owner’s crawlers have names of their own',
    );
  }
}

function readAction(name: string, node: ConfigNode, patterns: number): DimensionAction {
  const child = childOf(node, 'action');
  const fallback = name === BYPASS ? 'bypass' : 'render';
  const action = child === undefined ? fallback : readWord('render', 'bypass', 'block')(child);
  if (name === BYPASS && child !== undefined && action !== undefined && action !== 'bypass') {
    reportError(child, `the dimension "bypass" can't ${action}`, 'use another name');
  }
  if (action === 'block' && child !== undefined && patterns === 0) {
    reportWarning(
      child,
      `"${name}" blocks nobody`,
      'add match_ua, or use unmatched_dimension: block',
    );
  }
  return action ?? fallback;
}

/** An empty text counts as absent, as the reference engine's files may have it. */
function readRenderUserAgent(node: ConfigNode): string | undefined {
  const text = readText(node);
  if (text === undefined || text === '') return undefined;
  if (isAsciiValue(text)) return text;
  reportError(node, 'a User-Agent with characters no header may have', 'use printable ASCII');
  return undefined;
}

function readLocale(node: ConfigNode): string | undefined {
  const text = readText(node);
  if (text === undefined || LOCALE.test(text)) return text;
  reportError(node, `"${text}" is no locale`, 'write for example en-US');
  return undefined;
}
