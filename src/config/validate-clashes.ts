// What must be unique over all hosts and all files: ids, domains and their www aliases, render
// keys. Each clash names both places. A www alias of a wildcard could name any host, so there is
// none.
import type { HostPolicy } from '../core/policy/policy.ts';
import { usesWwwAlias } from '../core/routing/match-host.ts';
import { applyHostAlias } from '../core/url/host-alias.ts';
import type { HostBlock } from './blocks/host-block.ts';
import { type ConfigNode, childOf, namePlace, reportError } from './config-node.ts';
import type { Rest } from './rest.ts';

/** @param hosts the blocks and what became of them, in the same order */
export async function checkClashes(
  hosts: readonly (readonly [HostBlock, HostPolicy])[],
  rest: Rest,
): Promise<void> {
  const ids = new Map<unknown, ConfigNode>();
  const keys = new Map<unknown, ConfigNode>();
  const domains = new Map<string, ConfigNode>();
  for (const [block, host] of hosts) {
    await rest();
    claim(ids, host.id, childOf(block.node, 'id') ?? block.node, `host id ${host.id}`);
    if (host.renderKey !== null) {
      claim(
        keys,
        host.renderKey,
        childOf(block.node, 'render_key') ?? block.node,
        'this render key',
      );
    }
    for (const { domain, node } of block.domains) {
      claim(domains, domain, node, `domain "${domain}"`);
    }
  }
  // After all real names, so that an alias never hides the clash of two real ones.
  for (const [block, host] of hosts) {
    await rest();
    for (const { domain, node } of block.domains) {
      if (domain.startsWith('*.') && usesWwwAlias(host)) reportWildcard(node, domain);
      for (const alias of aliasesOf(domain, host)) {
        const other = domains.get(alias);
        const isOwn = block.domains.some((own) => own.domain === alias);
        if (other !== undefined && !isOwn) reportAlias(node, domain, alias, other);
      }
    }
  }
}

function reportWildcard(node: ConfigNode, domain: string): void {
  reportError(
    node,
    `normalization.host_aliases.www can't be used with the wildcard "${domain}"`,
    'list the names instead, or set host_aliases.www to keep',
  );
}

function reportAlias(node: ConfigNode, domain: string, alias: string, other: ConfigNode): void {
  reportError(
    node,
    `normalization.host_aliases.www makes "${domain}" answer as "${alias}", ` +
      `which is taken at ${namePlace(other)}`,
    'list both names at one host, or set host_aliases.www to keep',
  );
}

/** The names the host and its rules give a domain. */
function aliasesOf(domain: string, host: HostPolicy): ReadonlySet<string> {
  if (domain.startsWith('*.')) return new Set();
  const policies = [host.policy, ...host.rules.map(({ policy }) => policy)];
  const names = policies.map(({ normalization }) => applyHostAlias(domain, normalization));
  return new Set(names.filter((name) => name !== domain));
}

function claim(
  taken: Map<unknown, ConfigNode>,
  value: unknown,
  node: ConfigNode,
  name: string,
): void {
  const other = taken.get(value);
  if (other === undefined) taken.set(value, node);
  else reportError(node, `${name} is taken at ${namePlace(other)}`, 'each must be unique');
}
