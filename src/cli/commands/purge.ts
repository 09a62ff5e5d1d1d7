// `edge-gateway purge`: takes pages out of the store, beside a running gateway or without one. The
// key is made by the same decision as for serving, so any spelling of a URL will do.
import { buildDecider } from '../../compose/build-decider.ts';
import { openStoresIfPresent } from '../../compose/open-stores.ts';
import type { Config } from '../../config/settings.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { bytesToUrlText } from '../../core/url/bytes-to-text.ts';
import { type PurgeReport, purgePages } from '../../pipeline/purge/purge-pages.ts';
import { describePurgeError, formatReport } from '../../pipeline/purge/purge-report.ts';
import { chooseTarget, type PurgeRequest } from '../../pipeline/purge/purge-request.ts';
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
  usage:
    '(URL | --pattern PATH | --tag TAG | --host HOST | --all | --undo ID)' +
    ' [-c FILE] [--soft] [--dry-run] [--json]',
  takesWords: true,
  summary: 'take pages out of the cache, or mark them stale',
  options: {
    config: CONFIG_OPTION,
    pattern: { type: 'string', help: 'PATH  a path, or a pattern as in url_rules: /news/*' },
    tag: { type: 'string', help: 'TAG  of Surrogate-Key, Cache-Tag or the page’s own meta' },
    host: { type: 'string', help: 'HOST  a domain or a host id; also with --pattern or --tag' },
    all: { type: 'boolean', help: 'everything that is stored' },
    undo: { type: 'string', help: 'ID  take a soft purge back' },
    soft: { type: 'boolean', help: 'mark stale: served until they are refreshed' },
    'dry-run': { type: 'boolean', help: 'only count' },
    json: JSON_OPTION,
  },
  run: async (args, io) => {
    const request = readRequest(args);
    if (!request.ok) return refuseUsage(io, `purge: ${request.error}`);
    const config = await loadForCommand(args, io);
    return config === null ? 1 : await purge(request.value, config, io, args);
  },
};

function readRequest(args: ParsedArguments): Result<PurgeRequest, string> {
  const [url, ...others] = args.positionals;
  if (others.length > 0) return err('one URL at a time');
  const text = (name: string): string | null => {
    const value = args.values[name];
    return typeof value === 'string' ? value : null;
  };
  const undo = text('undo');
  if (undo !== null && !/^[1-9]\d{0,15}$/.test(undo)) return err('--undo takes the id of a purge');
  const target = chooseTarget({
    url: url === undefined ? null : bytesToUrlText(Buffer.from(url)),
    pattern: text('pattern'),
    tag: text('tag'),
    host: text('host'),
    all: hasOption(args, 'all'),
    undo: undo === null ? null : Number(undo),
  });
  if (!target.ok) return target;
  const soft = hasOption(args, 'soft');
  if (soft && target.value.kind === 'undo') return err('--soft says nothing with --undo');
  return ok({ target: target.value, soft, dryRun: hasOption(args, 'dry-run') });
}

async function purge(
  request: PurgeRequest,
  config: Config,
  io: CommandIo,
  args: ParsedArguments,
): Promise<ExitCode> {
  const stores = await openStoresIfPresent(config.settings, (message) => {
    io.stderr.write(`edge-gateway: ${message}\n`);
  });
  try {
    const { hosts } = config.policies;
    const decider = await buildDecider(config.policies, stores?.learned ?? null);
    const result = await purgePages(request, { decider, hosts, stores });
    if (!result.ok) {
      io.stderr.write(`edge-gateway: ${describePurgeError(result.error)}\n`);
      return 1;
    }
    io.stdout.write(
      hasOption(args, 'json')
        ? `${JSON.stringify(formatReport(result.value))}\n`
        : `${describeReport(result.value, hosts)}\n`,
    );
    return 0;
  } finally {
    await stores?.close();
  }
}

type Hosts = Config['policies']['hosts'];

function describeReport(report: PurgeReport, hosts: Hosts): string {
  const { id, entries, newer, soft, undoes } = report;
  const noun = entries === 1 ? 'entry' : 'entries';
  const undo = soft && undoes === null && id !== null ? ` (take back: --undo ${id})` : '';
  const stay = newer === 0 ? '' : `, ${newer} newer already`;
  return `${entries} ${noun} ${chooseVerb(report)}${stay}: ${describePages(report, hosts)}${undo}`;
}

function chooseVerb({ dryRun, soft, undoes }: PurgeReport): string {
  if (undoes !== null) return dryRun ? 'would be fresh again' : 'fresh again';
  if (dryRun) return 'would go';
  return soft ? 'marked stale' : 'purged';
}

function describePages({ selector }: PurgeReport, hosts: Hosts): string {
  switch (selector.kind) {
    case 'url':
      return selector.url;
    case 'pattern':
      return `pattern ${selector.pattern}${describeScope(selector.hostId, hosts)}`;
    case 'tag':
      return `tag ${selector.tag}${describeScope(selector.hostId, hosts)}`;
    case 'host':
      return `host ${nameHost(selector.hostId, hosts)}`;
    case 'all':
      return 'all';
  }
}

function describeScope(hostId: number | null, hosts: Hosts): string {
  return hostId === null ? '' : ` of host ${nameHost(hostId, hosts)}`;
}

/** What is taken back may have been purged of a host that is configured no more. */
function nameHost(hostId: number, hosts: Hosts): string {
  return hosts.find(({ id }) => id === hostId)?.domain ?? String(hostId);
}
