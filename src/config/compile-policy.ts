// Blocks of all levels → the PolicySet that requests read. Everything a request needs is computed
// here, once; hosts and rules that write nothing share the policy object of the level above.
import type {
  EffectivePolicy,
  HostPolicy,
  PolicyLevel,
  PolicySet,
  Rule,
} from '../core/policy/policy.ts';
import { sortRules } from '../core/routing/sort-rules.ts';
import { readDimensions, readUnmatched } from './blocks/dimensions-block.ts';
import { type HostBlock, type InheritedDimensions, readHost } from './blocks/host-block.ts';
import { type PolicyBlock, readPolicyBlock } from './blocks/policy-block.ts';
import type { RuleBlock } from './blocks/rules-block.ts';
import { readTrackingBlock } from './blocks/tracking-block.ts';
import { type Catalog, readCatalog } from './catalog.ts';
import { type ConfigNode, descend, itemsOf } from './config-node.ts';
import { firstWritten, pick } from './levels.ts';
import { type MergedPolicy, mergeBlock, startFromDefaults, toEffective } from './merge-policy.ts';
import { readNumber, readSize, readTimeout } from './read-values.ts';
import type { Rest } from './rest.ts';
import { checkClashes } from './validate-clashes.ts';
import { checkServerTimeout, checkTimeouts, type ServerTimeout } from './validate-timeouts.ts';

/** Layer 0, read: what every configuration is laid over. */
export interface Defaults {
  /** One for each built-in file; no key stands in two of them. */
  readonly roots: readonly ConfigNode[];
  readonly catalog: Catalog;
  readonly merged: MergedPolicy;
}

export function compileDefaults(roots: readonly ConfigNode[]): Defaults {
  const catalog = readCatalog(roots);
  const settings = roots.find((root) => descend(root, 'render') !== undefined);
  if (settings === undefined) throw new Error('config/defaults has no settings');
  const block = {
    ...readPolicyBlock(settings, catalog),
    tracking: readTrackingBlock(firstWritten(roots, 'tracking_params'), catalog),
  };
  return { roots, catalog, merged: startFromDefaults(block, catalog) };
}

/** The policies without any user file. */
export function compileDefaultPolicies(defaults: Defaults): PolicySet {
  return {
    limits: readLimits(defaults.roots),
    global: toEffective(defaults.merged),
    hosts: [],
  };
}

/**
 * Compiles the user's files over layer 0; what is wrong goes to the documents' problems.
 *
 * @param gateway root of edge-gateway.yaml
 * @param hostFiles roots of the hosts files
 * @param rest taken between hosts and rules
 */
export async function compilePolicies(
  defaults: Defaults,
  gateway: ConfigNode,
  hostFiles: readonly ConfigNode[],
  rest: Rest,
): Promise<PolicySet> {
  const { catalog } = defaults;
  const roots = [gateway, ...defaults.roots];
  const server = readServerTimeout(roots);
  const global = mergeBlock(defaults.merged, readPolicyBlock(gateway, catalog), 'global');
  checkTimeouts(gateway, global, server);
  checkServerTimeout(gateway, global, server);

  const inherited = readGlobalDimensions(roots, catalog);
  const level: Level = { merged: global, policy: toEffective(global), server };
  const hosts: (readonly [HostBlock, HostPolicy])[] = [];
  for (const node of hostFiles.flatMap((root) => itemsOf(descend(root, 'hosts')))) {
    const block = await readHost(node, { catalog, inherited, rest });
    if (block !== undefined) hosts.push([block, await compileHost(block, level, rest)]);
  }
  await checkClashes(hosts, rest);
  return { limits: readLimits(roots), global: level.policy, hosts: hosts.map(([, host]) => host) };
}

interface Level {
  readonly merged: MergedPolicy;
  readonly policy: EffectivePolicy;
  readonly server: ServerTimeout;
}

async function compileHost(host: HostBlock, global: Level, rest: Rest): Promise<HostPolicy> {
  const level = deepen(global, host.node, host.block, 'host');
  const rules: Rule[] = [];
  for (const rule of host.rules) {
    await rest();
    rules.push(...compileRule(rule, level));
  }
  return { ...host.fields, rules: sortRules(rules), policy: level.policy };
}

function compileRule(rule: RuleBlock, host: Level): readonly Rule[] {
  const { policy } = deepen(host, rule.node, rule.block, 'rule');
  return rule.rules.map((fields) => ({ ...fields, policy }));
}

function deepen(above: Level, node: ConfigNode, block: PolicyBlock, level: PolicyLevel): Level {
  if (isEmpty(block)) return above;
  const merged = mergeBlock(above.merged, block, level);
  checkTimeouts(node, merged, above.server);
  return { merged, policy: toEffective(merged), server: above.server };
}

function isEmpty(block: PolicyBlock): boolean {
  return Object.values(block).every(
    (part: unknown) =>
      part === undefined ||
      (typeof part === 'object' && part !== null && Object.keys(part).length === 0),
  );
}

function readGlobalDimensions(roots: readonly ConfigNode[], catalog: Catalog): InheritedDimensions {
  const map = firstWritten(roots, 'dimensions');
  const dimensions = map === undefined ? [] : readDimensions(map, catalog);
  const unmatchedNode = firstWritten(roots, 'unmatched_dimension');
  if (unmatchedNode !== undefined) readUnmatched(unmatchedNode, dimensions);
  return { dimensions, unmatchedNode };
}

function readServerTimeout(roots: readonly ConfigNode[]): ServerTimeout {
  const node = firstWritten(roots, 'server.timeout');
  if (node === undefined) throw new Error('config/defaults leaves out server.timeout');
  return { node, timeoutMs: readTimeout(node) ?? Number.POSITIVE_INFINITY };
}

function readLimits(roots: readonly ConfigNode[]): PolicySet['limits'] {
  return {
    urlBytesMax: pick(roots, 'normalization.max_url_bytes', readSize),
    paramsMax: pick(roots, 'normalization.max_params', readNumber),
  };
}
