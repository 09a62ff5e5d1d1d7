// `edge-gateway explain URL`: the whole decision, step by step, by the same code that serves;
// with errors in the files on disk, by the running gateway.
import { buildDecider } from '../../compose/build-decider.ts';
import type { AdminSettings, Config } from '../../config/settings.ts';
import { parseIpAddress } from '../../core/bots/ip-address.ts';
import {
  type Explanation,
  explainDecision,
  GOOGLEBOT_USER_AGENT,
  isExplanation,
} from '../../core/decision/explain-decision.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { bytesToUrlText } from '../../core/url/bytes-to-text.ts';
import { cachedInNone, findCached } from '../../pipeline/find-cached.ts';
import { askAdminOnce, describeRefusal } from '../ask-admin.ts';
import {
  CONFIG_OPTION,
  type Command,
  type CommandIo,
  fail,
  hasOption,
  JSON_OPTION,
  refuseUsage,
  textOption,
} from '../command.ts';
import { formatExplanation } from '../format-explanation.ts';
import { loadOrAsk } from '../load-for-command.ts';
import { openStoresForCommand } from '../open-stores-for-command.ts';
import { withBots } from '../with-bots.ts';
import { writeText } from '../write-text.ts';

export const explainCommand: Command = {
  name: 'explain',
  usage: 'URL [-c FILE] [--user-agent UA] [--address IP] [--method METHOD] [--json]',
  takesWords: true,
  summary: 'show what would happen to a URL, step by step, and why',
  options: {
    config: CONFIG_OPTION,
    'user-agent': { type: 'string', short: 'A', help: 'UA  the client (default: Googlebot)' },
    address: { type: 'string', help: 'IP  where the client comes from, to verify a crawler' },
    method: { type: 'string', short: 'X', help: 'METHOD  (default: GET)' },
    json: JSON_OPTION,
  },
  run: async (args, io) => {
    const [url, ...others] = args.positionals;
    if (url === undefined || others.length > 0) {
      return refuseUsage(io, 'explain takes one URL (quote it: & and ? mean something to a shell)');
    }
    const question: Question = {
      url: bytesToUrlText(Buffer.from(url)),
      method: textOption(args, 'method', 'GET').toUpperCase(),
      userAgent: textOption(args, 'user-agent', GOOGLEBOT_USER_AGENT),
      address: textOption(args, 'address', ''),
    };
    if (question.address !== '' && parseIpAddress(question.address) === null) {
      return refuseUsage(io, `--address takes an IP address, not "${question.address}"`);
    }
    const basis = await loadOrAsk(args, io);
    if (basis === null) return 1;
    const explained =
      basis.kind === 'files'
        ? ok(await explain(question, basis.config, io))
        : await askToExplain(question, basis.admin, io);
    if (!explained.ok) return fail(io, explained.error);
    const explanation = explained.value;
    writeText(
      io.stdout,
      hasOption(args, 'json') ? `${JSON.stringify(explanation)}\n` : formatExplanation(explanation),
    );
    // A host that isn't configured has an answer; what is no URL has none.
    return explanation.error === null ? 0 : 1;
  },
};

interface Question {
  readonly url: string;
  readonly method: string;
  readonly userAgent: string;
  /** Empty: not given. */
  readonly address: string;
}

async function explain(
  { address, ...asked }: Question,
  { policies, settings }: Config,
  io: CommandIo,
): Promise<Explanation> {
  const judgeBot = await withBots(settings, io, ({ judge }) =>
    judge.judgeAhead(asked.userAgent, address || null),
  );
  const stores = await openStoresForCommand(settings, io);
  try {
    const request = { ...asked, hasAuthorization: false, judgeBot };
    const decision = (await buildDecider(policies, stores?.learned ?? null)).decide(request, []);
    const cached =
      stores === null ? cachedInNone(decision) : await findCached(decision, stores.pages);
    return explainDecision(decision, cached);
  } finally {
    await stores?.close();
  }
}

async function askToExplain(
  { url, method, userAgent, address }: Question,
  admin: AdminSettings,
  { stderr }: CommandIo,
): Promise<Result<Explanation, string>> {
  const query = new URLSearchParams({ url, method, user_agent: userAgent });
  if (address !== '') query.set('address', address);
  const path = `/explain?${query.toString()}`;
  const asked = await askAdminOnce(admin, { method: 'GET', path }, stderr);
  if (!asked.ok) return asked;
  const { status, value } = asked.value;
  return status === 200 && isExplanation(value) ? ok(value) : err(describeRefusal(status, value));
}
