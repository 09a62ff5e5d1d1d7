// One entry of `hosts`: everything about it but the policy merge.
import type { Dimension, HostPolicy, Origin } from '../../core/policy/policy.ts';
import type { Catalog } from '../catalog.ts';
import { type ConfigNode, childOf, itemsOf, reportError } from '../config-node.ts';
import {
  readAt,
  readFlag,
  readNumber,
  readParsed,
  readText,
  readWord,
  takeParsed,
} from '../read-values.ts';
import type { Rest } from '../rest.ts';
import { parseDomain } from '../values/parse-domain.ts';
import { parseOrigin } from '../values/parse-origin.ts';
import { readDimensions, readUnmatched } from './dimensions-block.ts';
import { type PolicyBlock, readPolicyBlock } from './policy-block.ts';
import { type RuleBlock, readRules } from './rules-block.ts';

export interface DomainNode {
  readonly domain: string;
  readonly node: ConfigNode;
}

/** A host before the policy above it is known. */
export interface HostBlock {
  readonly node: ConfigNode;
  readonly domains: readonly DomainNode[];
  readonly block: PolicyBlock;
  readonly rules: readonly RuleBlock[];
  readonly fields: Omit<HostPolicy, 'rules' | 'policy'>;
}

/** The dimensions a host has when it names none. */
export interface InheritedDimensions {
  readonly dimensions: readonly Dimension[];
  /** Where `unmatched_dimension` is written, to be looked up again among own dimensions. */
  readonly unmatchedNode: ConfigNode | undefined;
}

export interface HostContext {
  readonly catalog: Catalog;
  readonly inherited: InheritedDimensions;
  readonly rest: Rest;
}

/** RFC 9110 §7.2, without user information. */
const HOST_HEADER = /^[A-Za-z0-9._~:[\]-]+$/;

/** Reads one host; undefined when it lacks an id or a domain, which was reported. */
export async function readHost(
  node: ConfigNode,
  { catalog, inherited, rest }: HostContext,
): Promise<HostBlock | undefined> {
  const id = readAt(node, 'id', readNumber);
  const domains = readDomains(childOf(node, 'domain'));
  const block = readPolicyBlock(node, catalog);
  const dimensions =
    readAt(node, 'dimensions', (map) => readDimensions(map, catalog)) ?? inherited.dimensions;
  const rules = await readRules(childOf(node, 'url_rules'), dimensions, catalog, rest);
  const first = domains[0]?.domain;
  const origins = readOrigins(node, domains);
  const unmatched = readHostUnmatched(node, dimensions, inherited);
  const originHostHeader = readAt(node, 'origin_host_header', readHostHeader) ?? null;
  const renderKey = readAt(node, 'render_key', readRenderKey) ?? null;
  if (id === undefined || first === undefined || unmatched === undefined) return undefined;
  const fields = {
    id,
    domain: first,
    domains: domains.map(({ domain }) => domain),
    enabled: readAt(node, 'enabled', readFlag) ?? true,
    origins,
    originHostHeader,
    scheme: readAt(node, 'scheme', readWord('http', 'https')) ?? 'https',
    renderKey,
    dimensions,
    unmatched,
  };
  return { node, domains, block, rules, fields };
}

function readDomains(node: ConfigNode | undefined): readonly DomainNode[] {
  const seen = new Set<string>();
  return itemsOf(node, true).flatMap((item) => {
    if (typeof item.value !== 'string') return [];
    const domain = takeParsed(item, parseDomain(item.value));
    if (domain === undefined) return [];
    if (seen.has(domain)) {
      reportError(item, `"${domain}" is listed twice`, 'remove one of them');
      return [];
    }
    seen.add(domain);
    return [{ domain, node: item }];
  });
}

function readOrigins(node: ConfigNode, domains: readonly DomainNode[]): readonly Origin[] {
  const originNode = childOf(node, 'origin');
  if (originNode !== undefined) {
    return itemsOf(originNode, true).flatMap((item) => {
      const url = readParsed(parseOrigin)(item);
      return url === undefined ? [] : [{ url }];
    });
  }
  const name = domains.find(({ domain }) => !domain.startsWith('*.'));
  if (name !== undefined) return [{ url: `https://${name.domain}` }];
  const [first] = domains;
  if (first !== undefined) {
    reportError(
      first.node,
      'a host of wildcards only needs an `origin`',
      'write origin: https://…',
    );
  }
  return [];
}

function readHostUnmatched(
  node: ConfigNode,
  dimensions: readonly Dimension[],
  inherited: InheritedDimensions,
): Dimension | 'block' | undefined {
  const own = childOf(node, 'unmatched_dimension');
  if (own !== undefined) return readUnmatched(own, dimensions);
  const written = inherited.unmatchedNode;
  const fallback = dimensions.find(({ name }) => name === 'bypass');
  if (written === undefined) return fallback;
  if (written.value === 'block') return 'block';
  // The inherited name may not exist among the host's own dimensions.
  const found = dimensions.find(({ name }) => name === written.value);
  if (found === undefined && childOf(node, 'dimensions') !== undefined) {
    reportError(
      childOf(node, 'dimensions') ?? node,
      `the inherited unmatched_dimension ${JSON.stringify(written.value)} is not among them`,
      'add that dimension, or write unmatched_dimension for this host',
    );
  }
  return found ?? fallback;
}

function readHostHeader(node: ConfigNode): string | undefined {
  const text = readText(node);
  if (text === undefined || HOST_HEADER.test(text)) return text;
  reportError(node, 'not a Host header', 'write a name, with a port if needed: app.internal:8080');
  return undefined;
}

function readRenderKey(node: ConfigNode): string | undefined {
  const text = readText(node);
  if (text === undefined || /^[\x21-\x7e]{1,256}$/.test(text)) return text;
  reportError(
    node,
    text === '' ? 'the render key is empty' : 'a render key with a space or control character',
    'use 1 to 256 printable ASCII characters',
  );
  return undefined;
}
