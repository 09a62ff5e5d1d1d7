// Which hosts listen to No-Vary-Search: only for those is anything looked up.
import type { HostPolicy } from '../policy/policy.ts';
import { type FindLearned, type LearnedTable, learnedName } from './learned-rule.ts';

/**
 * @param learned what is learned at this moment; asked once for each URL of a host that learns
 * @returns how to find the rules of a host; null where none is ever applied
 */
export function indexLearners(
  hosts: readonly HostPolicy[],
  learned: () => LearnedTable,
): (host: HostPolicy | null) => FindLearned | null {
  const learners = new Set<HostPolicy | null>(hosts.filter(isLearner));
  return (host) => {
    if (host === null || !learners.has(host)) return null;
    const table = learned();
    return (address) => table.get(learnedName(host.id, address)) ?? null;
  };
}

/** Whether any level of the host says `learn`. */
export function isLearner({ policy, rules }: HostPolicy): boolean {
  return [policy, ...rules.map((rule) => rule.policy)].some(
    ({ normalization }) => normalization.noVarySearch === 'learn',
  );
}
