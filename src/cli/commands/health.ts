// `edge-gateway health`: asks the running gateway how it is, where its own configuration says that
// it listens; for container engines and supervisors. Reads nothing but `admin`. A render service,
// which has no such listener, is asked where it is said to be, and nothing is read.
import { parseListen } from '../../config/values/parse-listen.ts';
import { fieldsOf } from '../../core/records.ts';
import { askAdminOnce, describeRefusal } from '../ask-admin.ts';
import { askRenderer } from '../ask-renderer.ts';
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
import { findAdmin } from '../load-for-command.ts';

const TIMEOUT_MS = 4_000;
const RENDERER_NOTE = 'A render service has no such listener: --renderer ADDRESS asks one';

export const healthCommand: Command = {
  name: 'health',
  usage: '[-c FILE | --renderer ADDRESS] [--live] [--json]',
  takesWords: false,
  summary: 'ask the running gateway whether it is ready; exit status 1 when not',
  options: {
    config: CONFIG_OPTION,
    live: { type: 'boolean', help: 'only whether it answers at all: GET /health, not /ready' },
    renderer: {
      type: 'string',
      help: 'ADDRESS  of a render service, which is asked instead of the gateway',
    },
    json: JSON_OPTION,
  },
  run: async (args, io) => {
    const renderer = args.values['renderer'];
    if (typeof renderer === 'string') return await askHowRendererIs(renderer, args, io);
    const admin = await findAdmin(args, io);
    if (admin === null) return 1;
    const path = hasOption(args, 'live') ? '/health' : '/ready';
    const asked = await askAdminOnce(admin, { method: 'GET', path, timeoutMs: TIMEOUT_MS });
    if (!asked.ok) {
      io.stderr.write(`edge-gateway: ${asked.error}. ${RENDERER_NOTE}\n`);
      return 1;
    }
    const { status, value } = asked.value;
    const { status: word, checks, config } = fieldsOf(value);
    if (typeof word !== 'string') {
      io.stderr.write(`edge-gateway: ${describeRefusal(status, value)}\n`);
      return 1;
    }
    const lines = [
      word,
      ...Object.entries(fieldsOf(checks)).map(([part, how]) => `${part}: ${String(how)}`),
    ];
    const { current, errors } = fieldsOf(config);
    if (current === false) lines.push(`last reload: refused, errors: ${String(errors)}`);
    io.stdout.write(
      hasOption(args, 'json') ? `${JSON.stringify(value)}\n` : `${lines.join('\n')}\n`,
    );
    return status === 200 ? 0 : 1;
  },
};

async function askHowRendererIs(
  address: string,
  args: ParsedArguments,
  io: CommandIo,
): Promise<ExitCode> {
  const place = parseListen(address);
  if (!place.ok) return refuseUsage(io, 'health: --renderer takes an address like 127.0.0.1:10080');
  const path = hasOption(args, 'live') ? '/health' : '/ready';
  const asked = await askRenderer(place.value, { path, timeoutMs: TIMEOUT_MS });
  if (!asked.ok) {
    io.stderr.write(`edge-gateway: ${asked.error}\n`);
    return 1;
  }
  const { isWell, word } = asked.value;
  io.stdout.write(hasOption(args, 'json') ? `${JSON.stringify({ status: word })}\n` : `${word}\n`);
  return isWell ? 0 : 1;
}
