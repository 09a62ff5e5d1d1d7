// `edge-gateway purge`: takes pages out of the store, beside a running gateway or without one; with
// errors in the files on disk the running gateway does it. The key is made by the same decision as
// for serving, so any spelling of a URL will do.
import { buildDecider } from '../../compose/build-decider.ts';
import type { AdminSettings, Config } from '../../config/settings.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { bytesToUrlText } from '../../core/url/bytes-to-text.ts';
import { purgePages } from '../../pipeline/purge/purge-pages.ts';
import {
  describePurgeError,
  formatReport,
  type PurgeAnswer,
} from '../../pipeline/purge/purge-report.ts';
import {
  chooseTarget,
  formatOrder,
  type PurgeRequest,
} from '../../pipeline/purge/purge-request.ts';
import { askAdminOnce, describeRefusal, LONG_WORK_TIMEOUT_MS } from '../ask-admin.ts';
import {
  CONFIG_OPTION,
  type Command,
  type CommandIo,
  fail,
  hasOption,
  JSON_OPTION,
  type ParsedArguments,
  refuseUsage,
} from '../command.ts';
import { describePurge, readPurgeAnswer } from '../describe-purge.ts';
import { type CommandBasis, loadOrAsk } from '../load-for-command.ts';
import { openStoresForCommand } from '../open-stores-for-command.ts';
import { writeText } from '../write-text.ts';

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
    const basis = await loadOrAsk(args, io);
    if (basis === null) return 1;
    const purged =
      basis.kind === 'files'
        ? await purgeStore(request.value, basis.config, io)
        : await askToPurge(request.value, basis.admin, io);
    if (!purged.ok) return fail(io, purged.error);
    writeText(
      io.stdout,
      hasOption(args, 'json')
        ? `${JSON.stringify(purged.value)}\n`
        : `${describePurge(purged.value, nameHosts(basis))}\n`,
    );
    return 0;
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

async function purgeStore(
  request: PurgeRequest,
  config: Config,
  io: CommandIo,
): Promise<Result<PurgeAnswer, string>> {
  const stores = await openStoresForCommand(config.settings, io);
  try {
    const { hosts } = config.policies;
    const decider = await buildDecider(config.policies, stores?.learned ?? null);
    const result = await purgePages(request, { decider, hosts, stores });
    return result.ok ? ok(formatReport(result.value)) : err(describePurgeError(result.error));
  } finally {
    await stores?.close();
  }
}

async function askToPurge(
  request: PurgeRequest,
  admin: AdminSettings,
  { stderr }: CommandIo,
): Promise<Result<PurgeAnswer, string>> {
  const order = { method: 'POST', path: '/purge', body: formatOrder(request) } as const;
  const question = { ...order, timeoutMs: LONG_WORK_TIMEOUT_MS };
  const asked = await askAdminOnce(admin, question, stderr);
  if (!asked.ok) return asked;
  const { status, value } = asked.value;
  const answer = status === 200 ? readPurgeAnswer(value) : null;
  return answer === null ? err(describeRefusal(status, value)) : ok(answer);
}

/** What is purged of a host that is configured no more has no name any more. */
function nameHosts(basis: CommandBasis): (hostId: number) => string {
  const hosts = basis.kind === 'files' ? basis.config.policies.hosts : [];
  return (hostId) => hosts.find(({ id }) => id === hostId)?.domain ?? String(hostId);
}
