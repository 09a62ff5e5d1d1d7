// `edge-gateway explain URL`: the whole decision, step by step, by the same code that serves.
import { buildDecider } from '../../compose/build-decider.ts';
import { openStoresIfPresent } from '../../compose/open-stores.ts';
import type { Config } from '../../config/settings.ts';
import { parseIpAddress } from '../../core/bots/ip-address.ts';
import type { DecisionRequest } from '../../core/decision/decision.ts';
import {
  type Explanation,
  explainDecision,
  GOOGLEBOT_USER_AGENT,
} from '../../core/decision/explain-decision.ts';
import { bytesToUrlText } from '../../core/url/bytes-to-text.ts';
import { cachedInNone, findCached } from '../../pipeline/find-cached.ts';
import {
  CONFIG_OPTION,
  type Command,
  type CommandIo,
  hasOption,
  JSON_OPTION,
  refuseUsage,
  textOption,
} from '../command.ts';
import { formatExplanation } from '../format-explanation.ts';
import { loadForCommand } from '../load-for-command.ts';
import { withBots } from '../with-bots.ts';

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
    const config = await loadForCommand(args, io);
    if (config === null) return 1;
    const userAgent = textOption(args, 'user-agent', GOOGLEBOT_USER_AGENT);
    const address = textOption(args, 'address', '');
    if (address !== '' && parseIpAddress(address) === null) {
      return refuseUsage(io, `--address takes an IP address, not "${address}"`);
    }
    const judgeBot = await withBots(config.settings, io, ({ judge }) =>
      judge.judgeAhead(userAgent, address || null),
    );
    const request = {
      url: bytesToUrlText(Buffer.from(url)),
      method: textOption(args, 'method', 'GET').toUpperCase(),
      userAgent,
      hasAuthorization: false,
      judgeBot,
    };
    const explanation = await explain(request, config, io);
    io.stdout.write(
      hasOption(args, 'json') ? `${JSON.stringify(explanation)}\n` : formatExplanation(explanation),
    );
    // A host that isn't configured has an answer; what is no URL has none.
    return explanation.error === null ? 0 : 1;
  },
};

async function explain(
  request: DecisionRequest,
  { policies, settings }: Config,
  io: CommandIo,
): Promise<Explanation> {
  const stores = await openStoresIfPresent(settings, (message) => {
    io.stderr.write(`edge-gateway: ${message}\n`);
  });
  try {
    const decision = (await buildDecider(policies, stores?.learned ?? null)).decide(request, []);
    const cached =
      stores === null ? cachedInNone(decision) : await findCached(decision, stores.pages);
    return explainDecision(decision, cached);
  } finally {
    await stores?.close();
  }
}
