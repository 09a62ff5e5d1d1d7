// `edge-gateway verify`: whether store and files agree, and bodies are what was stored. Works
// beside a running gateway.
import { setImmediate as yieldTurn } from 'node:timers/promises';
import { parseCacheKey } from '../../core/key/cache-key.ts';
import type { HostPolicy } from '../../core/policy/policy.ts';
import { findNamedHost } from '../../core/routing/find-named-host.ts';
import {
  type Problem,
  type VerifyReport,
  verifyStore,
} from '../../pipeline/upkeep/verify-store.ts';
import {
  CONFIG_OPTION,
  type Command,
  type CommandIo,
  hasOption,
  JSON_OPTION,
  textOption,
} from '../command.ts';
import { loadForCommand } from '../load-for-command.ts';
import { openStoresForCommand } from '../open-stores-for-command.ts';

export const verifyCommand: Command = {
  name: 'verify',
  usage: '[-c FILE] [--host HOST] [--quick] [--repair] [--verbose] [--json]',
  takesWords: false,
  summary: 'check that stored pages and their files agree; exit status 1 when something is wrong',
  options: {
    config: CONFIG_OPTION,
    host: { type: 'string', help: 'HOST  only this one: a domain or a host id' },
    quick: { type: 'boolean', help: 'look for the files, and don’t read them' },
    repair: { type: 'boolean', help: 'remove what is wrong: it will be fetched anew' },
    verbose: { type: 'boolean', help: 'a line for every host, not only for those with problems' },
    json: JSON_OPTION,
  },
  run: async (args, io) => {
    const config = await loadForCommand(args, io);
    if (config === null) return 1;
    const { hosts } = config.policies;
    const name = textOption(args, 'host', '');
    const host = name === '' ? null : findNamedHost(name, hosts);
    if (host === undefined) {
      io.stderr.write(`edge-gateway: no host ${JSON.stringify(name)} is configured\n`);
      return 1;
    }
    const stores = await openStoresForCommand(config.settings, io);
    const printer = hasOption(args, 'json') ? printJson : printText;
    const shown = { hosts, isVerbose: hasOption(args, 'verbose') };
    if (stores === null) {
      printer.summary(io, { report: NOTHING_STORED, problems: [], ...shown });
      return 0;
    }
    const problems: Problem[] = [];
    try {
      const verified = await verifyStore(stores.upkeep, {
        checksBodies: !hasOption(args, 'quick'),
        repairs: hasOption(args, 'repair'),
        ...(host && { hostId: host.id }),
        pace: { rest: () => yieldTurn(), isStopped: () => false },
        onProblem: (problem) => {
          problems.push(problem);
          printer.problem(io, problem);
        },
      });
      if (verified.state === 'unavailable') {
        const message = `the store could not be read to the end: ${verified.reason}`;
        io.stderr.write(`edge-gateway: ${message}\n`);
        return 1;
      }
      printer.summary(io, { report: verified.value, problems, ...shown });
      return problems.every(({ isRepaired }) => isRepaired) ? 0 : 1;
    } finally {
      await stores.close();
    }
  },
};

/** Before the first page there is no store to open, and looking must not create one. */
const NOTHING_STORED: VerifyReport = { hosts: [], expired: 0, purged: 0, foreign: 0 };

interface Summary {
  readonly report: VerifyReport;
  readonly problems: readonly Problem[];
  readonly hosts: readonly HostPolicy[];
  /** Also of hosts where all is well. */
  readonly isVerbose: boolean;
}

interface Printer {
  readonly problem: (io: CommandIo, problem: Problem) => void;
  readonly summary: (io: CommandIo, summary: Summary) => void;
}

const printText: Printer = {
  problem: (io, { kind, key, url, detail, isRepaired }) => {
    const words = [kind, key, url, detail, isRepaired ? 'removed' : null];
    io.stdout.write(`${words.filter((word) => word !== null).join(' ')}\n`);
  },
  summary: (io, { report, problems, hosts, isVerbose }) => {
    const { expired, purged, foreign } = report;
    const sums = sumHosts(report, problems, hosts);
    for (const { id, domain, entries, bytes, faults } of sums) {
      if (faults === 0 && !isVerbose) continue;
      const parts = [countEntries(entries), `${bytes} bytes`, countProblems(faults)];
      io.stdout.write(`host ${id} (${domain ?? 'not configured'}): ${parts.join(', ')}\n`);
    }
    const removed = problems.filter(({ isRepaired }) => isRepaired).length;
    const parts = [
      `${countEntries(sums.reduce((sum, { entries }) => sum + entries, 0))} whole`,
      `${sums.reduce((sum, { bytes }) => sum + bytes, 0)} bytes`,
      ...(expired === 0 ? [] : [`${expired} expired`]),
      ...(purged === 0 ? [] : [`${purged} purged`]),
      ...(foreign === 0 ? [] : [`${foreign} of another version`]),
      countProblems(problems.length),
      ...(removed === 0 ? [] : [`${removed === problems.length ? 'all' : removed} removed`]),
    ];
    io.stdout.write(`${parts.join(', ')}\n`);
  },
};

const printJson: Printer = {
  problem: (io, { kind, key, url, detail, isRepaired }) => {
    writeJson(io, { problem: kind, key, url, detail, repaired: isRepaired });
  },
  summary: (io, { report, problems, hosts }) => {
    const { expired, purged, foreign } = report;
    writeJson(io, {
      hosts: sumHosts(report, problems, hosts).map(({ faults, ...host }) => ({
        ...host,
        problems: faults,
      })),
      expired,
      purged,
      foreign,
      problems: problems.length,
      repaired: problems.filter(({ isRepaired }) => isRepaired).length,
    });
  },
};

interface HostSum {
  readonly id: number;
  /** null: it is configured no more. */
  readonly domain: string | null;
  readonly entries: number;
  readonly bytes: number;
  readonly faults: number;
}

/** Each host of which anything is stored, or wrong, in the order of their ids. */
function sumHosts(
  { hosts: stored }: VerifyReport,
  problems: readonly Problem[],
  hosts: readonly HostPolicy[],
): readonly HostSum[] {
  const domains = new Map(hosts.map(({ id, domain }) => [id, domain]));
  const usages = new Map(stored.map((usage) => [usage.hostId, usage]));
  const faults = new Map<number, number>();
  for (const { key } of problems) {
    const id = parseCacheKey(key)?.hostId ?? 0;
    faults.set(id, (faults.get(id) ?? 0) + 1);
  }
  const ids = [...new Set([...usages.keys(), ...faults.keys()])].sort((a, b) => a - b);
  return ids.map((id) => ({
    id,
    domain: domains.get(id) ?? null,
    entries: usages.get(id)?.entries ?? 0,
    bytes: usages.get(id)?.bytes ?? 0,
    faults: faults.get(id) ?? 0,
  }));
}

function writeJson(io: CommandIo, value: unknown): void {
  io.stdout.write(`${JSON.stringify(value)}\n`);
}

function countEntries(number: number): string {
  return `${number} ${number === 1 ? 'entry' : 'entries'}`;
}

function countProblems(number: number): string {
  return `${number} ${number === 1 ? 'problem' : 'problems'}`;
}
