// `url_rules` of one host. An entry with several patterns becomes several rules with one id, so
// that matching only ever looks at one pattern.
import { isFieldName } from '../../core/http/header-list.ts';
import type { Pattern } from '../../core/pattern/parse-pattern.ts';
import type { Dimension, QueryCondition, Rule, RuleAction } from '../../core/policy/policy.ts';
import { encodePathPattern } from '../../core/url/encode-path.ts';
import type { Catalog } from '../catalog.ts';
import {
  type ConfigNode,
  childOf,
  descend,
  entriesOf,
  itemsOf,
  namePlace,
  reportError,
  reportWarning,
} from '../config-node.ts';
import { readAt, readNumber, readPattern, readPatternText, readText } from '../read-values.ts';
import type { Rest } from '../rest.ts';
import { findDimension } from './dimensions-block.ts';
import { type PolicyBlock, readPolicyBlock } from './policy-block.ts';
import { IMPLIED_STATUS, readStatus } from './status-block.ts';

/** A rule before the policy above it is known. */
export interface RuleBlock {
  readonly node: ConfigNode;
  readonly block: PolicyBlock;
  /** One for each pattern, without policy. */
  readonly rules: readonly Omit<Rule, 'policy'>[];
}

export async function readRules(
  node: ConfigNode | undefined,
  dimensions: readonly Dimension[],
  catalog: Catalog,
  rest: Rest,
): Promise<readonly RuleBlock[]> {
  const idNodes = new Map<string, ConfigNode>();
  const blocks: RuleBlock[] = [];
  for (const [order, item] of itemsOf(node).entries()) {
    await rest();
    const idNode = childOf(item, 'id');
    const id = readAt(item, 'id', readId) ?? `rule_${order + 1}`;
    const other = idNodes.get(id);
    if (other !== undefined) {
      reportError(idNode ?? item, `rule id "${id}" is taken at ${namePlace(other)}`);
    }
    idNodes.set(id, idNode ?? item);
    const rule = { id, order, ...readMatching(item), ...readOutcome(item, dimensions) };
    const rules = readMatch(item).map((pattern) => ({ ...rule, pattern }));
    blocks.push({ node: item, block: readPolicyBlock(item, catalog), rules });
  }
  return blocks;
}

function readId(node: ConfigNode): string | undefined {
  const text = readText(node);
  if (text === undefined || /^[\x21-\x7e]{1,64}$/.test(text)) return text;
  reportError(node, 'a rule id has 1 to 64 printable characters without spaces');
  return undefined;
}

function readMatch(item: ConfigNode): readonly Pattern[] {
  return itemsOf(childOf(item, 'match'), true).flatMap((node) => {
    if (typeof node.value !== 'string') return [];
    const pattern = readPatternText(node, encodePathPattern(node.value));
    if (pattern === undefined) return [];
    checkPathPattern(node, pattern, node.value);
    return [pattern];
  });
}

function checkPathPattern(node: ConfigNode, pattern: Pattern, source: string): void {
  if (pattern.kind === 'regexp') return;
  if (!/^[/*]/.test(source)) {
    reportError(node, `"${source}" matches no path`, `paths start with "/": write "/${source}"`);
  } else if (source.includes('?')) {
    reportWarning(node, 'a path never contains "?"', 'use match_query for parameters');
  }
}

function readMatching(item: ConfigNode): Pick<Rule, 'query' | 'methods' | 'priority'> {
  return {
    query: readQuery(childOf(item, 'match_query')),
    methods: readAt(item, 'methods', readMethods) ?? null,
    priority: readAt(item, 'priority', readNumber) ?? 0,
  };
}

function readQuery(node: ConfigNode | undefined): readonly QueryCondition[] {
  return entriesOf(node).map(([name, child]) => {
    if (name === '') reportError(child, 'an empty parameter name');
    const values = itemsOf(child, true).flatMap((item) => {
      if (item.value === '') {
        reportError(item, 'an empty value', 'write "~^$" for an empty one, "*" for any other');
        return [];
      }
      const pattern = readPattern(item);
      return pattern === undefined ? [] : [pattern];
    });
    return { name, values };
  });
}

function readMethods(node: ConfigNode): ReadonlySet<string> {
  const methods = itemsOf(node).flatMap((item) => {
    const text = readText(item);
    if (text === undefined) return [];
    if (!isFieldName(text)) reportError(item, `"${text}" is no method`, 'write for example GET');
    return [text.toUpperCase()];
  });
  if (methods.length === 0) reportError(node, 'a rule for no method', 'remove `methods` for any');
  return new Set(methods);
}

function readOutcome(
  item: ConfigNode,
  dimensions: readonly Dimension[],
): Pick<Rule, 'action' | 'status' | 'dimension'> {
  const word = readAt(item, 'action', readText);
  const action = toAction(word);
  const status = action === 'status' ? readStatus(item, IMPLIED_STATUS.get(word ?? '')) : null;
  const statusNode = childOf(item, 'status');
  if (statusNode !== undefined && action !== 'status') {
    reportWarning(statusNode, '`status` has no effect without `action: status`', null);
  }
  return { action, status, dimension: readRuleDimension(item, action, dimensions) };
}

function toAction(word: string | undefined): RuleAction | null {
  if (word === 'render' || word === 'bypass') return word;
  return word === 'status' || IMPLIED_STATUS.has(word ?? '') ? 'status' : null;
}

function readRuleDimension(
  item: ConfigNode,
  action: RuleAction | null,
  dimensions: readonly Dimension[],
): Dimension | null {
  const own = childOf(item, 'dimension');
  const inner = descend(item, 'render.dimension');
  if (own !== undefined && inner !== undefined) {
    reportError(inner, `the dimension is already named at ${namePlace(own)}`);
  }
  const node = own ?? inner;
  if (node === undefined) return null;
  if (action !== 'render') {
    reportError(node, '`dimension` needs `action: render`', null);
    return null;
  }
  const found = findDimension(node, dimensions);
  if (found === undefined || found.action === 'render') return found ?? null;
  reportError(node, `dimension "${found.name}" does not render`, 'name one whose action is render');
  return null;
}
