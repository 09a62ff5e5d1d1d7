// `edge-gateway health`: asks the running gateway how it is, where its own configuration says that
// it listens; for container engines and supervisors. Reads nothing but `admin`. A render service,
// which has no such listener, is asked where it is said to be, and nothing is read.
import { parseListen } from '../../config/values/parse-listen.ts';
import { fieldsOf, isCount, isRecord } from '../../core/records.ts';
import { askAdminOnce, describeRefusal } from '../ask-admin.ts';
import { askRenderer } from '../ask-renderer.ts';
import {
  CONFIG_OPTION,
  type Command,
  type CommandIo,
  type ExitCode,
  fail,
  hasOption,
  JSON_OPTION,
  type ParsedArguments,
  refuseUsage,
} from '../command.ts';
import { findAdmin } from '../load-for-command.ts';
import { writeText } from '../write-text.ts';

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
    const question = { method: 'GET', path, timeoutMs: TIMEOUT_MS } as const;
    const asked = await askAdminOnce(admin, question, io.stderr);
    if (!asked.ok) return fail(io, `${asked.error}. ${RENDERER_NOTE}`);
    const { status, value } = asked.value;
    const lines = describeHealth(value);
    if (lines === null) return fail(io, describeRefusal(status, value));
    const isJson = hasOption(args, 'json');
    writeText(io.stdout, isJson ? `${JSON.stringify(value)}\n` : `${lines.join('\n')}\n`);
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
  if (!asked.ok) return fail(io, asked.error);
  const { isWell, word } = asked.value;
  writeText(
    io.stdout,
    hasOption(args, 'json') ? `${JSON.stringify({ status: word })}\n` : `${word}\n`,
  );
  return isWell ? 0 : 1;
}

/** null: it says something else. `GET /health` says a word and nothing more. */
function describeHealth(value: unknown): readonly string[] | null {
  const { status: word, checks = {}, config = {} } = fieldsOf(value);
  if (typeof word !== 'string' || !isRecord(checks) || !isRecord(config)) return null;
  const parts = Object.entries(checks);
  const { current = true, errors = 0 } = config;
  const areChecks = parts.every(([, how]) => typeof how === 'string');
  if (!areChecks || typeof current !== 'boolean' || !isCount(errors)) return null;
  return [
    word,
    ...parts.map(([part, how]) => `${part}: ${String(how)}`),
    ...(current ? [] : [`last reload: refused, errors: ${errors}`]),
  ];
}
