// `edge-gateway verify`: whether store and files agree, and bodies are what was stored. Works
// beside a running gateway.
import { setImmediate as yieldTurn } from 'node:timers/promises';
import {
  type Problem,
  type VerifyReport,
  verifyStore,
} from '../../pipeline/upkeep/verify-store.ts';
import { CONFIG_OPTION, type Command, type CommandIo, hasOption, JSON_OPTION } from '../command.ts';
import { loadForCommand } from '../load-for-command.ts';
import { openStoresForCommand } from '../open-stores-for-command.ts';

export const verifyCommand: Command = {
  name: 'verify',
  usage: '[-c FILE] [--quick] [--repair] [--json]',
  takesWords: false,
  summary: 'check that stored pages and their files agree; exit status 1 when something is wrong',
  options: {
    config: CONFIG_OPTION,
    quick: { type: 'boolean', help: 'look for the files, and don’t read them' },
    repair: { type: 'boolean', help: 'remove what is wrong: it will be fetched anew' },
    json: JSON_OPTION,
  },
  run: async (args, io) => {
    const config = await loadForCommand(args, io);
    if (config === null) return 1;
    const stores = await openStoresForCommand(config.settings, io);
    const printer = hasOption(args, 'json') ? printJson : printText;
    if (stores === null) {
      printer.summary(io, NOTHING_STORED, []);
      return 0;
    }
    const problems: Problem[] = [];
    try {
      const verified = await verifyStore(stores.upkeep, {
        checksBodies: !hasOption(args, 'quick'),
        repairs: hasOption(args, 'repair'),
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
      printer.summary(io, verified.value, problems);
      return problems.every(({ isRepaired }) => isRepaired) ? 0 : 1;
    } finally {
      await stores.close();
    }
  },
};

/** Before the first page there is no store to open, and looking must not create one. */
const NOTHING_STORED: VerifyReport = { hosts: [], expired: 0, purged: 0, foreign: 0 };

interface Printer {
  readonly problem: (io: CommandIo, problem: Problem) => void;
  readonly summary: (io: CommandIo, report: VerifyReport, problems: readonly Problem[]) => void;
}

const printText: Printer = {
  problem: (io, { kind, key, url, detail, isRepaired }) => {
    const words = [kind, key, url, detail, isRepaired ? 'removed' : null];
    io.stdout.write(`${words.filter((word) => word !== null).join(' ')}\n`);
  },
  summary: (io, { hosts, expired, purged, foreign }, problems) => {
    for (const { hostId, entries, bytes } of hosts) {
      io.stdout.write(`host ${hostId}: ${countEntries(entries)}, ${bytes} bytes\n`);
    }
    const whole = hosts.reduce((sum, { entries }) => sum + entries, 0);
    const removed = problems.filter(({ isRepaired }) => isRepaired).length;
    const parts = [
      `${countEntries(whole)} whole`,
      ...(expired === 0 ? [] : [`${expired} expired`]),
      ...(purged === 0 ? [] : [`${purged} purged`]),
      ...(foreign === 0 ? [] : [`${foreign} of another version`]),
      `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`,
      ...(removed === 0 ? [] : [`${removed === problems.length ? 'all' : removed} removed`]),
    ];
    io.stdout.write(`${parts.join(', ')}\n`);
  },
};

const printJson: Printer = {
  problem: (io, { kind, key, url, detail, isRepaired }) => {
    writeJson(io, { problem: kind, key, url, detail, repaired: isRepaired });
  },
  summary: (io, { hosts, expired, purged, foreign }, problems) => {
    writeJson(io, {
      hosts: hosts.map(({ hostId, entries, bytes }) => ({ id: hostId, entries, bytes })),
      expired,
      purged,
      foreign,
      problems: problems.length,
      repaired: problems.filter(({ isRepaired }) => isRepaired).length,
    });
  },
};

function writeJson(io: CommandIo, value: unknown): void {
  io.stdout.write(`${JSON.stringify(value)}\n`);
}

function countEntries(number: number): string {
  return `${number} ${number === 1 ? 'entry' : 'entries'}`;
}
