// `edge-gateway recache`: has pages got again by the running gateway, which serves the old ones
// until the new ones are there.
import { fieldsOf } from '../../core/records.ts';
import { bytesToUrlText } from '../../core/url/bytes-to-text.ts';
import { RECACHE_URLS_MAX } from '../../pipeline/refresh/request-refresh.ts';
import { type AdminObject, askAdminOnce, describeRefusal } from '../ask-admin.ts';
import {
  CONFIG_OPTION,
  type Command,
  type CommandIo,
  type ExitCode,
  refuseUsage,
  textOption,
} from '../command.ts';
import { loadOrAsk } from '../load-for-command.ts';

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
    const asked = await askAdminOnce(basis.admin, { method: 'POST', path: '/recache', body });
    if (asked.ok) return report(asked.value, io);
    io.stderr.write(`edge-gateway: ${asked.error}\n`);
    return 1;
  },
};

function report({ status, value }: AdminObject, io: CommandIo): ExitCode {
  const { accepted, pages, refused } = fieldsOf(value);
  if (!Array.isArray(refused)) {
    io.stderr.write(`edge-gateway: ${describeRefusal(status, value)}\n`);
    return 1;
  }
  for (const { url, reason } of refused) io.stderr.write(`refused: ${url}: ${reason}\n`);
  io.stdout.write(`accepted: ${Number(accepted)} of the URLs, ${Number(pages)} pages\n`);
  return refused.length > 0 ? 1 : 0;
}
