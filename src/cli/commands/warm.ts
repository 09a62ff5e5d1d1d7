// `edge-gateway warm`: has the pages of a sitemap, or of a list, got by the running gateway ahead
// of the first who ask for them.

import type { Config } from '../../config/settings.ts';
import { indexHosts } from '../../core/routing/match-host.ts';
import { bytesToUrlText } from '../../core/url/bytes-to-text.ts';
import { normalizeHost } from '../../core/url/normalize-host.ts';
import { AdminError, askAdmin } from '../ask-admin.ts';
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
import { isWebAddress } from '../warm/open-source.ts';
import { openResumeFile, type ResumeFile } from '../warm/resume-file.ts';
import { createProgress } from '../warm/show-progress.ts';
import { walkSitemaps } from '../warm/walk-sitemaps.ts';
import { formatCounts, NOTHING_YET, WarmTally } from '../warm/warm-tally.ts';
import { warmUrls } from '../warm/warm-urls.ts';

const CONCURRENCY_DEFAULT = 8;
const CONCURRENCY_MAX = 1_000;
/** What is kept in memory, to know how much is left. */
const URLS_MAX = 2_000_000;
const STATE_PAUSE_MS = 1_000;
/** Failures and refusals that are told of one by one. */
const TOLD_MAX = 20;
/** What a list says is never more than text to a terminal. */
const CONTROL = /\p{Cc}/gu;

export const warmCommand: Command = {
  name: 'warm',
  usage: '(SITEMAP | FILE | -) [-c FILE] [--concurrency N] [--dimension D] [--resume FILE]',
  takesWords: true,
  summary: 'have the pages of a sitemap or a list got by the running gateway, ahead of requests',
  options: {
    config: CONFIG_OPTION,
    concurrency: {
      type: 'string',
      help: `N  asked for at once (default: ${CONCURRENCY_DEFAULT}), within render.refresh_share`,
    },
    dimension: { type: 'string', help: 'D  only this one (default: all that are rendered)' },
    resume: { type: 'string', help: 'FILE  remembers how far it got, and goes on from there' },
  },
  run: async (args, io) => {
    const [source, ...others] = args.positionals;
    if (source === undefined || others.length > 0) {
      return refuseUsage(io, 'warm takes one sitemap or file, by path or URL, or - for its input');
    }
    const concurrency = Number(textOption(args, 'concurrency', String(CONCURRENCY_DEFAULT)));
    if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > CONCURRENCY_MAX) {
      return refuseUsage(io, `--concurrency takes a number from 1 to ${CONCURRENCY_MAX}`);
    }
    const config = await loadForCommand(args, io);
    if (config === null) return 1;
    const list = await collectUrls(source, config, io);
    return await warm({ source, concurrency, config, ...list }, args, io);
  },
};

interface Collected {
  readonly urls: readonly string[];
  /** Something of it could not be read. */
  readonly isPartial: boolean;
}

async function collectUrls(source: string, config: Config, io: CommandIo): Promise<Collected> {
  const hosts = indexHosts(config.policies.hosts);
  const named = isWebAddress(source) && URL.canParse(source) ? new URL(source).host : null;
  let isPartial = false;
  const tell = (place: string, reason: string): void => {
    isPartial = true;
    io.stderr.write(`edge-gateway: ${`${place}: ${reason}`.replace(CONTROL, '?')}\n`);
  };
  const urls: string[] = [];
  const walk = {
    stdin: io.stdin,
    // A person may name any sitemap; what it lists may only be on the sites that are configured.
    mayFetch: ({ host, hostname }: URL): boolean => {
      const name = normalizeHost(hostname);
      return host === named || (name.ok && hosts.find(name.value) !== null);
    },
    onProblem: tell,
  };
  for await (const url of walkSitemaps(source, walk)) {
    if (urls.length === URLS_MAX) {
      tell(source, `more than ${URLS_MAX} URLs: the rest is left out`);
      break;
    }
    urls.push(bytesToUrlText(Buffer.from(url)));
  }
  return { urls, isPartial };
}

interface Plan extends Collected {
  readonly source: string;
  readonly concurrency: number;
  readonly config: Config;
}

async function warm(plan: Plan, args: ParsedArguments, io: CommandIo): Promise<ExitCode> {
  const { source, urls } = plan;
  if (urls.length === 0) {
    io.stderr.write('edge-gateway: there is nothing to warm\n');
    return 1;
  }
  const resumePath = textOption(args, 'resume', '');
  const resume = resumePath === '' ? null : openResumeFile(resumePath, source);
  const state = (await resume?.read()) ?? null;
  const done = Math.min(state?.done ?? 0, urls.length);
  if (done > 0) io.stdout.write(`going on behind the first ${done} of ${urls.length}\n`);
  const tally = new WarmTally(state?.counts ?? NOTHING_YET, done);
  const problem = await runWarming(plan, tally, {
    dimension: textOption(args, 'dimension', ''),
    resume,
    io,
  });
  const { counts } = tally;
  io.stdout.write(`${tally.doneTo} of ${urls.length} URLs: ${formatCounts(counts)}\n`);
  if (problem !== null) {
    const how =
      resume === null ? '' : `; the same command goes on behind the first ${tally.doneTo}`;
    io.stderr.write(`edge-gateway: ${problem}${how}\n`);
    return 1;
  }
  await resume?.remove();
  const isUseless = counts.fresh + counts.rendered === 0;
  return counts.failed > 0 || plan.isPartial || isUseless ? 1 : 0;
}

interface Run {
  /** Its name; empty: all. */
  readonly dimension: string;
  readonly resume: ResumeFile | null;
  readonly io: CommandIo;
}

/** @returns why it ended before its time, or null */
async function runWarming(
  { source, urls, concurrency, config }: Plan,
  tally: WarmTally,
  { dimension, resume, io }: Run,
): Promise<string | null> {
  const progress = createProgress(io.stdout, tally, urls.length, performance.now());
  const write = async (): Promise<void> =>
    await resume?.write({ source, done: tally.doneTo, counts: tally.counts });
  let writtenAt = performance.now();
  let told = 0;
  const tell = (text: string): void => {
    told += 1;
    if (told > TOLD_MAX) return;
    progress.clear();
    io.stderr.write(`${text.replace(CONTROL, '?')}\n`);
  };
  try {
    await warmUrls({
      urls,
      from: tally.doneTo,
      concurrency,
      ask: async (some) =>
        await askAdmin(config.settings, '/warm', {
          urls: some,
          ...(dimension === '' ? {} : { dimension }),
        }),
      onDone: async (place, line) => {
        if (line.refused !== null) tell(`no page: ${line.url}: ${line.refused}`);
        for (const { url, dimension: name, detail } of tally.add(place, line)) {
          tell(`failed: ${url} (${name}): ${detail}`);
        }
        progress.show();
        if (performance.now() - writtenAt < STATE_PAUSE_MS) return;
        writtenAt = performance.now();
        await write();
      },
    });
    return null;
  } catch (cause) {
    if (!(cause instanceof AdminError)) throw cause;
    return cause.message;
  } finally {
    progress.clear();
    if (told > TOLD_MAX) io.stderr.write(`… and ${told - TOLD_MAX} more\n`);
    await write();
  }
}
