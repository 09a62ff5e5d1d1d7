// What the published lists and the address itself say about a claim, without asking anybody.
import type { AddressVerdict, CrawlerGroup } from './crawlers.ts';
import { parseIpAddress } from './ip-address.ts';
import { compilePrefixes, parsePrefix } from './prefix-set.ts';
import type { RangeList } from './range-list.ts';

/** Owners add networks: a list that is older still verifies, but refutes nobody. */
const REFUTING_AGE_MS_MAX = 30 * 24 * 3_600_000;

/** Addresses that no crawler on the internet can have: our own machine, our own network. */
const LOCAL = compilePrefixes(
  [
    ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
    ...['172.16.0.0/12', '192.168.0.0/16', '::1/128', 'fc00::/7', 'fe80::/10'],
  ].flatMap((text) => parsePrefix(text) ?? []),
);

/** `ask`: only a reverse look-up can tell. */
export type ListVerdict = AddressVerdict | 'ask';

/**
 * Judges by what is at hand.
 *
 * @param findList a list by its name, or null when there is none on this machine
 */
export function weighLists(
  group: CrawlerGroup,
  address: string,
  findList: (name: string) => RangeList | null,
  nowMs: number,
): ListVerdict {
  const ip = parseIpAddress(address);
  if (ip === null) return { verdict: 'unverifiable', by: 'no_address' };
  if (LOCAL.has(ip)) return { verdict: 'unverifiable', by: 'local_address' };
  const lists = group.lists.map(({ name }) => findList(name));
  if (lists.some((list) => list?.prefixes.has(ip))) return { verdict: 'verified', by: 'list' };
  if (group.hostNames.length > 0) return 'ask';
  if (lists.length === 0) return { verdict: 'unverifiable', by: 'no_method' };
  const canRefute = lists.every(
    (list) => list !== null && nowMs - list.dateMs <= REFUTING_AGE_MS_MAX,
  );
  return canRefute
    ? { verdict: 'forged', by: 'not_listed' }
    : { verdict: 'unverifiable', by: 'no_list' };
}
