// Whether a crawler is who it says it is. A request never waits for the answer: what lists on this
// machine can't tell is looked up behind its back, and until then the client is `unverifiable`.
// Look-ups are few at a time and verdicts few in memory, whoever sends how many User-Agents.
import type {
  AddressVerdict,
  BotJudgement,
  Crawler,
  CrawlerGroup,
  CrawlerTable,
} from '../core/bots/crawlers.ts';
import { indexCrawlers } from '../core/bots/find-crawler.ts';
import { type ListVerdict, weighLists } from '../core/bots/weigh-lists.ts';
import type { BotLookUp } from '../core/decision/decision.ts';
import type { Clock, NameChecker, RangeLists } from './ports.ts';
import { createRecentMemory } from './recent-memory.ts';

export interface BotJudge {
  /**
   * At once; null for a client that names no known crawler.
   *
   * @param address the client's own, behind trusted proxies; null when it is not known
   * @param verifies false: only says who the client claims to be
   */
  readonly judge: (
    userAgent: string,
    address: string | null,
    verifies: boolean,
  ) => BotJudgement | null;
  /** What a decider is given for one client by those who may wait: `explain`, not requests. */
  readonly judgeAhead: (userAgent: string, address: string | null) => Promise<BotLookUp>;
  /** What a group's methods say about an address, awaited. */
  readonly weigh: (group: CrawlerGroup, address: string) => Promise<AddressVerdict>;
}

export interface BotJudgeDeps {
  readonly table: CrawlerTable;
  readonly ranges: RangeLists;
  readonly names: NameChecker;
  readonly clock: Clock;
  /** The checker never throws: what it throws is a defect. */
  readonly onDefect: (error: unknown) => void;
}

const VERIFIED_MEMORY_MS = 24 * 3_600_000;
const OTHER_MEMORY_MS = 600_000;
/** What lists say costs some microseconds, and a crawler asks many times a second. */
const WEIGHED_MEMORY_MS = 1_000;
const VERDICTS_MAX = 20_000;
const LOOK_UPS_MAX = 20;

const PENDING: AddressVerdict = { verdict: 'unverifiable', by: 'lookup_pending' };
const NO_ADDRESS: AddressVerdict = { verdict: 'unverifiable', by: 'no_address' };
const OFF: AddressVerdict = { verdict: 'unverifiable', by: 'verify_off' };

export function createBotJudge(deps: BotJudgeDeps): BotJudge {
  const { table, ranges, names, clock } = deps;
  const crawlers = indexCrawlers(table.crawlers);
  const verdicts = createRecentMemory<AddressVerdict>(clock, VERDICTS_MAX);
  const weighed = createRecentMemory<ListVerdict>(clock, VERDICTS_MAX);
  const running = new Set<string>();

  async function lookUp(group: CrawlerGroup, address: string): Promise<AddressVerdict> {
    const check = await names.check(address, group.hostNames);
    if (check === 'confirmed') return { verdict: 'verified', by: 'rdns' };
    if (check === 'refuted') return { verdict: 'forged', by: 'rdns_mismatch' };
    return { verdict: 'unverifiable', by: 'lookup_failed' };
  }

  function startLookUp(key: string, group: CrawlerGroup, address: string): void {
    if (running.has(key) || running.size >= LOOK_UPS_MAX) return;
    running.add(key);
    lookUp(group, address)
      .then((found) => {
        // A name server that fails takes nobody's verdict away.
        const isLost = found.by === 'lookup_failed';
        const verdict = isLost ? (verdicts.peek(key) ?? found) : found;
        const isVerified = found.verdict === 'verified';
        verdicts.set(key, verdict, isVerified ? VERIFIED_MEMORY_MS : OTHER_MEMORY_MS);
      })
      .catch(deps.onDefect)
      .finally(() => running.delete(key));
  }

  function weighAnew(key: string, group: CrawlerGroup, address: string): ListVerdict {
    const listed = weighLists(group, address, ranges.find, clock.now());
    weighed.set(key, listed, WEIGHED_MEMORY_MS);
    return listed;
  }

  function judgeAddress(group: CrawlerGroup, address: string | null): AddressVerdict {
    if (address === null) return NO_ADDRESS;
    const key = `${group.name} ${address}`;
    const listed = weighed.get(key) ?? weighAnew(key, group, address);
    if (listed !== 'ask') return listed;
    if (verdicts.get(key) === null) startLookUp(key, group, address);
    // An old verdict counts until there is a new one, or forging would pay every ten minutes.
    return verdicts.peek(key) ?? PENDING;
  }

  async function weigh(group: CrawlerGroup, address: string): Promise<AddressVerdict> {
    const listed = weighLists(group, address, ranges.find, clock.now());
    return listed === 'ask' ? await lookUp(group, address) : listed;
  }

  return {
    weigh,
    judge: (userAgent, address, verifies) => {
      const crawler = crawlers.find(userAgent);
      if (crawler === null) return null;
      return describe(crawler, verifies ? judgeAddress(crawler.group, address) : OFF);
    },
    judgeAhead: async (userAgent, address) => {
      const crawler = crawlers.find(userAgent);
      if (crawler === null) return () => null;
      const verdict = address === null ? NO_ADDRESS : await weigh(crawler.group, address);
      return (_userAgent, verifies) => describe(crawler, verifies ? verdict : OFF);
    },
  };
}

function describe({ token, kind, group }: Crawler, verdict: AddressVerdict): BotJudgement {
  return { owner: group.name, token, kind, ...verdict };
}
