// `edge-gateway bots refresh` brings the published address lists up to date; `edge-gateway bots
// check IP` says whose crawler an address is; `edge-gateway bots pattern` prints an expression for
// servers in front.
import { rangesFolder } from '../../compose/open-bots.ts';
import { type RefreshedList, refreshBotLists } from '../../compose/refresh-bot-lists.ts';
import { readCrawlers } from '../../config/read-crawlers.ts';
import type { Config } from '../../config/settings.ts';
import { buildCrawlerPattern } from '../../core/bots/crawler-pattern.ts';
import type { AddressVerdict } from '../../core/bots/crawlers.ts';
import { parseIpAddress } from '../../core/bots/ip-address.ts';
import type { BotJudge } from '../../pipeline/judge-bot.ts';
import {
  CONFIG_OPTION,
  type Command,
  type CommandIo,
  type ExitCode,
  type ParsedArguments,
  refuseUsage,
  textOption,
} from '../command.ts';
import { loadForCommand } from '../load-for-command.ts';
import { warnOfRoot } from '../open-stores-for-command.ts';
import { withBots } from '../with-bots.ts';

export const botsCommand: Command = {
  name: 'bots',
  usage: '(refresh [--owner OWNER] [--dir DIR] | check IP [--user-agent UA] | pattern) [-c FILE]',
  takesWords: true,
  summary: 'fetch address lists of crawlers; whose crawler is an address; an expression for all',
  options: {
    config: CONFIG_OPTION,
    owner: { type: 'string', help: 'OWNER  only the lists of one owner, such as google' },
    dir: { type: 'string', help: 'DIR  where lists are written (default: bots/ in the store)' },
    'user-agent': { type: 'string', short: 'A', help: 'UA  the crawler it says it is' },
  },
  run: async (args, io) => {
    const [verb, address, ...others] = args.positionals;
    if (verb === 'refresh' && address === undefined) return await refresh(args, io);
    if (verb === 'pattern' && address === undefined) return await printPattern(args, io);
    if (verb !== 'check' || address === undefined || others.length > 0) {
      return refuseUsage(io, 'bots takes "refresh", "pattern", or "check" and an IP address');
    }
    if (parseIpAddress(address) === null) {
      return refuseUsage(io, `bots check takes an IP address, not "${address}"`);
    }
    const config = await loadForCommand(args, io);
    return config === null ? 1 : await check(address, config, args, io);
  },
};

/** For servers in front that tell crawlers from people. */
async function printPattern(args: ParsedArguments, io: CommandIo): Promise<ExitCode> {
  const config = await loadForCommand(args, io);
  if (config === null) return 1;
  io.stdout.write(`${buildCrawlerPattern(config.policies.hosts)}\n`);
  return 0;
}

async function refresh(args: ParsedArguments, io: CommandIo): Promise<ExitCode> {
  const groups = readCrawlers().groups.filter(({ lists }) => lists.length > 0);
  const owner = textOption(args, 'owner', '');
  const chosen = groups.filter(({ name }) => owner === '' || name === owner);
  if (chosen.length === 0) {
    const names = groups.map(({ name }) => name).join(', ');
    return refuseUsage(io, `no owner "${owner}" publishes lists; these do: ${names}`);
  }
  const folder = await chooseFolder(args, io);
  if (folder === null) return 1;
  let isComplete = true;
  for (const group of chosen) {
    for (const list of await refreshBotLists(group, folder)) {
      isComplete &&= list.outcome !== 'failed';
      report(list, io);
    }
  }
  return isComplete ? 0 : 1;
}

/** A folder that is named needs no configuration, as when an image is built. */
async function chooseFolder(args: ParsedArguments, io: CommandIo): Promise<string | null> {
  const named = textOption(args, 'dir', '');
  if (named !== '') return named;
  const config = await loadForCommand(args, io);
  if (config === null) return null;
  await warnOfRoot(config.settings.storage.basePath, io);
  return rangesFolder(config.settings);
}

function report({ name, outcome, detail }: RefreshedList, io: CommandIo): void {
  const kept = outcome === 'failed' ? '; the copy at hand stays' : '';
  const output = outcome === 'failed' ? io.stderr : io.stdout;
  output.write(`${name}: ${outcome}: ${detail}${kept}\n`);
}

async function check(
  address: string,
  config: Config,
  args: ParsedArguments,
  io: CommandIo,
): Promise<ExitCode> {
  const userAgent = textOption(args, 'user-agent', '');
  const lines = await withBots(config.settings, io, async ({ judge }) =>
    userAgent === ''
      ? await listOwners(address, judge)
      : await describeClaim(address, userAgent, judge),
  );
  io.stdout.write(lines.map((line) => `${line}\n`).join(''));
  return 0;
}

async function describeClaim(
  address: string,
  userAgent: string,
  judge: BotJudge,
): Promise<readonly string[]> {
  const bot = (await judge.judgeAhead(userAgent, address))(userAgent, true);
  if (bot === null) return ['the User-Agent names no known crawler'];
  const { token, owner, kind, ...verdict } = bot;
  return [`${describeVerdict(verdict)}: ${token} of ${owner} (${kind})`];
}

/** Every owner whose methods verify the address, and what could not be told. */
async function listOwners(address: string, judge: BotJudge): Promise<readonly string[]> {
  const { groups } = readCrawlers();
  const checkable = groups.filter(
    ({ lists, hostNames }) => lists.length > 0 || hostNames.length > 0,
  );
  const found = await Promise.all(
    checkable.map(async (group) => [group, await judge.weigh(group, address)] as const),
  );
  const verified = found.filter(([, { verdict }]) => verdict === 'verified');
  if (verified.length > 0) {
    return verified.map(([{ name }, verdict]) => `${describeVerdict(verdict)}: ${name}`);
  }
  const open = found.filter(([, { verdict }]) => verdict === 'unverifiable');
  return [
    'no owner is verified by this address',
    ...open.map(([{ name }, verdict]) => `${describeVerdict(verdict)}: ${name}`),
  ];
}

function describeVerdict({ verdict, by }: AddressVerdict): string {
  return `${verdict} (${by})`;
}
