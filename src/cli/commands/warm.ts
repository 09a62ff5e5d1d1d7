// `edge-gateway warm`: has the pages of a sitemap, or of a list, got by the running gateway ahead
// of the first who ask for them.
import { setMaxListeners } from 'node:events';
import process from 'node:process';
import type { AdminSettings } from '../../config/settings.ts';
import { TRIES_MAX } from '../../core/refresh/refresh-job.ts';
import { indexHosts } from '../../core/routing/match-host.ts';
import { bytesToUrlText } from '../../core/url/bytes-to-text.ts';
import { normalizeHost } from '../../core/url/normalize-host.ts';
import { AdminError, askAdmin } from '../ask-admin.ts';
import {
  CONFIG_OPTION,
  type Command,
  type CommandIo,
  type ExitCode,
  hasOption,
  JSON_OPTION,
  type ParsedArguments,
  refuseUsage,
  textOption,
} from '../command.ts';
import { type CommandBasis, loadOrAsk } from '../load-for-command.ts';
import { isWebAddress } from '../warm/open-source.ts';
import { keepState, openResumeFile, type ResumeFile, type WarmState } from '../warm/resume-file.ts';
import { walkSitemaps } from '../warm/walk-sitemaps.ts';
import { reportJson, reportText, type WarmReporter } from '../warm/warm-reporter.ts';
import { NOTHING_YET, WarmTally } from '../warm/warm-tally.ts';
import { warmUrls } from '../warm/warm-urls.ts';
import { writeLine } from '../write-text.ts';

const CONCURRENCY_DEFAULT = 8;
const CONCURRENCY_MAX = 1_000;
/** What is kept in memory, to know how much is left. */
const URLS_MAX = 2_000_000;
/** Stop it. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export const warmCommand: Command = {
  name: 'warm',
  usage:
    '(SITEMAP | FILE | -) [-c FILE] [--concurrency N] [--tries N] [--dimension D]' +
    ' [--resume FILE] [--json]',
  takesWords: true,
  summary: 'have the pages of a sitemap or a list got by the running gateway, ahead of requests',
  options: {
    config: CONFIG_OPTION,
    concurrency: {
      type: 'string',
      help: `N  asked for at once (default: ${CONCURRENCY_DEFAULT}), within render.refresh_share`,
    },
    tries: {
      type: 'string',
      help: `N  how often each page is tried, 1 to ${TRIES_MAX} (default: ${TRIES_MAX})`,
    },
    dimension: { type: 'string', help: 'D  only this one (default: all that are rendered)' },
    resume: { type: 'string', help: 'FILE  remembers how far it got, and goes on from there' },
    json: JSON_OPTION,
  },
  run: async (args, io) => {
    const [source, ...others] = args.positionals;
    if (source === undefined || others.length > 0) {
      return refuseUsage(io, 'warm takes one sitemap or file, by path or URL, or - for its input');
    }
    const concurrency = Number(textOption(args, 'concurrency', String(CONCURRENCY_DEFAULT)));
    if (!isBetween(concurrency, CONCURRENCY_MAX)) {
      return refuseUsage(io, `--concurrency takes a number from 1 to ${CONCURRENCY_MAX}`);
    }
    const tries = Number(textOption(args, 'tries', String(TRIES_MAX)));
    if (!isBetween(tries, TRIES_MAX)) {
      return refuseUsage(io, `--tries takes a number from 1 to ${TRIES_MAX}`);
    }
    const basis = await loadOrAsk(args, io);
    if (basis === null) return 1;
    const list = await collectUrls(source, basis, io);
    return await warm({ source, concurrency, tries, admin: basis.admin, ...list }, args, io);
  },
};

function isBetween(number: number, max: number): boolean {
  return Number.isInteger(number) && number >= 1 && number <= max;
}

interface Collected {
  readonly urls: readonly string[];
  /** Something of it could not be read. */
  readonly isPartial: boolean;
}

async function collectUrls(source: string, basis: CommandBasis, io: CommandIo): Promise<Collected> {
  // With errors in the files nobody knows them: only the site that was named is asked.
  const hosts = indexHosts(basis.kind === 'files' ? basis.config.policies.hosts : []);
  const named = isWebAddress(source) && URL.canParse(source) ? new URL(source).host : null;
  let isPartial = false;
  const tell = (place: string, reason: string): void => {
    isPartial = true;
    writeLine(io.stderr, `edge-gateway: ${place}: ${reason}`);
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
  readonly tries: number;
  readonly admin: AdminSettings;
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
  const isJson = hasOption(args, 'json');
  if (done > 0 && !isJson) io.stdout.write(`going on behind the first ${done} of ${urls.length}\n`);
  const tally = new WarmTally(state?.counts ?? NOTHING_YET, done);
  const reporter = (isJson ? reportJson : reportText)(io, { tally, total: urls.length });
  const dimension = textOption(args, 'dimension', '');
  const problem = await runWarming(plan, tally, { dimension, resume, reporter });
  const how = resume === null ? '' : `; the same command goes on behind the first ${tally.doneTo}`;
  reporter.end(problem === null ? null : `${problem}${how}`);
  if (problem !== null) return 1;
  await resume?.remove();
  const { failed, mistaken } = tally.counts;
  return failed > 0 || mistaken > 0 || plan.isPartial ? 1 : 0;
}

interface Run {
  /** Its name; empty: all. */
  readonly dimension: string;
  readonly resume: ResumeFile | null;
  readonly reporter: WarmReporter;
}

/** @returns why it ended before its time, or null */
async function runWarming(
  { source, urls, concurrency, tries, admin }: Plan,
  tally: WarmTally,
  { dimension, resume, reporter }: Run,
): Promise<string | null> {
  const current = (): WarmState => ({ source, done: tally.doneTo, counts: tally.countsToThere });
  const writeLast = resume === null ? null : await keepState(resume, current);
  const stop = new AbortController();
  // As many as there are requests at once.
  setMaxListeners(0, stop.signal);
  // Only the first of each: another one ends the process at once.
  const onSignal = (): void => stop.abort(new AdminError('stopped'));
  for (const signal of SIGNALS) process.once(signal, onSignal);
  try {
    await warmUrls({
      urls,
      from: tally.doneTo,
      concurrency,
      ask: async (some) =>
        await askAdmin(admin, {
          method: 'POST',
          path: '/warm',
          body: { urls: some, tries, ...(dimension === '' ? {} : { dimension }) },
          signal: stop.signal,
        }),
      onDone: async (index, line) => await reporter.onDone(line, tally.add(index, line)),
      onRetry: async (line) => {
        tally.putOff(line);
        await reporter.onRetry(line);
      },
    });
    return null;
  } catch (cause) {
    if (!(cause instanceof AdminError)) throw cause;
    return cause.message;
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    await writeLast?.();
  }
}
