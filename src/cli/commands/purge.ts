// `edge-gateway purge`: takes pages out of the store. The key is made by the same decision as for
// serving, so any spelling of a URL will do.
import { buildDecider } from '../../compose/build-decider.ts';
import { openStoresIfPresent } from '../../compose/open-stores.ts';
import type { Result } from '../../core/result.ts';
import { bytesToUrlText } from '../../core/url/bytes-to-text.ts';
import {
  type Purgeable,
  type PurgeError,
  type PurgeReport,
  purgePages,
} from '../../pipeline/purge-pages.ts';
import {
  CONFIG_OPTION,
  type Command,
  type CommandIo,
  type ExitCode,
  hasOption,
  JSON_OPTION,
  type ParsedArguments,
  refuseUsage,
} from '../command.ts';
import { loadForCommand } from '../load-for-command.ts';

export const purgeCommand: Command = {
  name: 'purge',
  usage: '(URL | --host HOST) [-c FILE] [--soft] [--dry-run] [--json]',
  takesWords: true,
  summary: 'take one page (all its dimensions) or all pages of a host out of the cache',
  options: {
    config: CONFIG_OPTION,
    host: { type: 'string', help: 'HOST  a domain or a host id: all its pages' },
    soft: { type: 'boolean', help: 'mark stale: served until they are refreshed' },
    'dry-run': { type: 'boolean', help: 'only count' },
    json: JSON_OPTION,
  },
  run: async (args, io) => {
    const [url, ...others] = args.positionals;
    const hostName = args.values['host'];
    if (others.length > 0 || (url === undefined) === (hostName === undefined)) {
      return refuseUsage(io, 'purge takes one URL or --host HOST');
    }
    const config = await loadForCommand(args, io);
    if (config === null) return 1;
    const stores = await openStoresIfPresent(config.settings, (message) => {
      io.stderr.write(`edge-gateway: ${message}\n`);
    });
    try {
      const decider = await buildDecider(config.policies, stores?.learned ?? null);
      const request = {
        url: url === undefined ? null : bytesToUrlText(Buffer.from(url)),
        host: typeof hostName === 'string' ? hostName : null,
        dryRun: hasOption(args, 'dry-run'),
        soft: hasOption(args, 'soft'),
      };
      const { hosts } = config.policies;
      return report(
        await purgePages(request, { decider, hosts, pages: stores?.pages ?? NOTHING_STORED }),
        args,
        io,
      );
    } finally {
      await stores?.close();
    }
  },
};

/** Before the first page there is no store to open, and looking must not create one. */
const NOTHING_STORED: Purgeable = {
  purge: async () => ({ state: 'done', value: false }),
  purgeHost: async () => ({ state: 'done', value: 0 }),
};

function report(
  result: Result<PurgeReport, PurgeError>,
  args: ParsedArguments,
  io: CommandIo,
): ExitCode {
  if (!result.ok) {
    io.stderr.write(`edge-gateway: ${describeError(result.error)}\n`);
    return 1;
  }
  const { entries, url, host } = result.value;
  const verb = hasOption(args, 'dry-run')
    ? 'would go'
    : hasOption(args, 'soft')
      ? 'marked stale'
      : 'purged';
  const noun = entries === 1 ? 'entry' : 'entries';
  io.stdout.write(
    hasOption(args, 'json')
      ? `${JSON.stringify({ ...result.value, dry_run: hasOption(args, 'dry-run') })}\n`
      : `${entries} ${noun} ${verb}: ${url ?? `host ${host}`}\n`,
  );
  return 0;
}

function describeError(error: PurgeError): string {
  switch (error.kind) {
    case 'invalid_url':
      return `not a URL that could be stored: ${error.error}`;
    case 'unknown_host':
      return 'this host is not configured; hosts are listed in hosts.yaml';
    case 'store_unavailable':
      return `the store could not be reached, nothing was purged: ${error.reason}`;
  }
}
