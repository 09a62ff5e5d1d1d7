// `edge-gateway health`: asks the running gateway how it is, where its own configuration says that
// it listens; for container engines and supervisors. Reads nothing but `admin`.
import { fieldsOf } from '../../core/records.ts';
import { askAdminOnce, describeRefusal } from '../ask-admin.ts';
import { CONFIG_OPTION, type Command, hasOption, JSON_OPTION } from '../command.ts';
import { findAdmin } from '../load-for-command.ts';

const TIMEOUT_MS = 4_000;

export const healthCommand: Command = {
  name: 'health',
  usage: '[-c FILE] [--live] [--json]',
  takesWords: false,
  summary: 'ask the running gateway whether it is ready; exit status 1 when not',
  options: {
    config: CONFIG_OPTION,
    live: { type: 'boolean', help: 'only whether it answers at all: GET /health, not /ready' },
    json: JSON_OPTION,
  },
  run: async (args, io) => {
    const admin = await findAdmin(args, io);
    if (admin === null) return 1;
    const path = hasOption(args, 'live') ? '/health' : '/ready';
    const asked = await askAdminOnce(admin, { method: 'GET', path, timeoutMs: TIMEOUT_MS });
    if (!asked.ok) {
      io.stderr.write(`edge-gateway: ${asked.error}\n`);
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
