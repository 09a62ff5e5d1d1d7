// `edge-gateway normalize`: URLs on stdin, one a line, answered line by line in order. Streams:
// memory does not depend on how many there are.
import { once } from 'node:events';
import { buildDecider } from '../../compose/build-decider.ts';
import { openLearned } from '../../compose/open-learned.ts';
import { loadDefaults } from '../../config/load-defaults.ts';
import type { Decider } from '../../core/decision/create-decider.ts';
import { questionAbout } from '../../core/decision/decision.ts';
import { explainDecision, UNKNOWN_CACHED } from '../../core/decision/explain-decision.ts';
import { bytesToUrlText } from '../../core/url/bytes-to-text.ts';
import { CONFIG_OPTION, type Command, type CommandIo, hasOption, JSON_OPTION } from '../command.ts';
import { loadForCommand } from '../load-for-command.ts';
import { splitLines } from '../split-lines.ts';

/** Output is written in blocks of about this many characters. */
const BLOCK_CHARS = 65_536;
/** Far beyond any URL that is accepted: what is longer is refused whatever its rest is. */
const LINE_BYTES_MAX = 1 << 20;

export const normalizeCommand: Command = {
  name: 'normalize',
  usage: '[-c FILE] [--json] < URLS',
  takesWords: false,
  summary: 'print HASH<TAB>URL, or error<TAB>KIND, for each URL on stdin',
  options: {
    config: {
      ...CONFIG_OPTION,
      help: 'FILE  hosts and rules to use (default: the built-in rules)',
    },
    json: JSON_OPTION,
  },
  run: async (args, io) => {
    const format = hasOption(args, 'json') ? formatJson : formatLine;
    if (args.values['config'] === undefined) {
      await writeAll(io, format, await buildDecider(loadDefaults(), null));
      return 0;
    }
    const config = await loadForCommand(args, io);
    if (config === null) return 1;
    const learned = await openLearned(config, (message) => {
      io.stderr.write(`edge-gateway: ${message}\n`);
    });
    try {
      await writeAll(io, format, await buildDecider(config.policies, learned.rules));
      return 0;
    } finally {
      await learned.close();
    }
  },
};

type Format = (url: string, decider: Decider) => string;

async function writeAll(io: CommandIo, format: Format, decider: Decider): Promise<void> {
  let block = '';
  for await (const line of splitLines(io.stdin, LINE_BYTES_MAX)) {
    block += format(bytesToUrlText(line), decider);
    if (block.length < BLOCK_CHARS) continue;
    if (!io.stdout.write(block)) await once(io.stdout, 'drain');
    block = '';
  }
  io.stdout.write(block);
}

function formatLine(url: string, decider: Decider): string {
  const decision = decider.decide(questionAbout(url), null);
  return decision.error === null
    ? `${decision.hash}\t${decision.normalized}\n`
    : `error\t${decision.error}\n`;
}

function formatJson(url: string, decider: Decider): string {
  const decision = decider.decide(questionAbout(url), []);
  return `${JSON.stringify(explainDecision(decision, UNKNOWN_CACHED))}\n`;
}
