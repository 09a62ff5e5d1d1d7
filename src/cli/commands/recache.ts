// `edge-gateway recache`: has pages got again by the running gateway, which serves the old ones
// until the new ones are there.
import { fieldsOf, isCount } from '../../core/records.ts';
import { bytesToUrlText } from '../../core/url/bytes-to-text.ts';
import { RECACHE_URLS_MAX } from '../../pipeline/refresh/request-refresh.ts';
import {
  type AdminObject,
  askAdminOnce,
  describeRefusal,
  LONG_WORK_TIMEOUT_MS,
} from '../ask-admin.ts';
import {
  CONFIG_OPTION,
  type Command,
  type CommandIo,
  type ExitCode,
  fail,
  refuseUsage,
  textOption,
} from '../command.ts';
import { loadOrAsk } from '../load-for-command.ts';
import { writeLine } from '../write-text.ts';

export const recacheCommand: Command = {
  name: 'recache',
  usage: 'URL… [-c FILE] [--dimension D]',
  takesWords: true,
  summary: 'have pages got again by the running gateway; the old ones are served meanwhile',
  options: {
    config: CONFIG_OPTION,
    dimension: { type: 'string', help: 'D  only this one (default: all that are rendered)' },
  },
  run: async (args, io) => {
    const urls = args.positionals.map((url) => bytesToUrlText(Buffer.from(url)));
    if (urls.length === 0 || urls.length > RECACHE_URLS_MAX) {
      return refuseUsage(io, `recache takes 1 to ${RECACHE_URLS_MAX} URLs`);
    }
    const basis = await loadOrAsk(args, io);
    if (basis === null) return 1;
    const dimension = textOption(args, 'dimension', '');
    const body = { urls, ...(dimension === '' ? {} : { dimension }) };
    const timeoutMs = LONG_WORK_TIMEOUT_MS;
    const question = { method: 'POST', path: '/recache', body, timeoutMs } as const;
    const asked = await askAdminOnce(basis.admin, question, io.stderr);
    return asked.ok ? report(asked.value, io) : fail(io, asked.error);
  },
};

function report({ status, value }: AdminObject, io: CommandIo): ExitCode {
  const { accepted, pages, refused } = fieldsOf(value);
  if (!isCount(accepted) || !isCount(pages) || !Array.isArray(refused)) {
    return fail(io, describeRefusal(status, value));
  }
  for (const one of refused) {
    const { url, reason } = fieldsOf(one);
    writeLine(io.stderr, `refused: ${String(url)}: ${String(reason)}`);
  }
  io.stdout.write(`accepted: ${accepted} of the URLs, ${pages} pages\n`);
  return refused.length > 0 ? 1 : 0;
}
