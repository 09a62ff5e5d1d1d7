// `edge-gateway reload`: has the running gateway read its files again, and fails when it refuses
// them, which a signal can't tell.
import { fieldsOf } from '../../core/records.ts';
import { type AdminObject, askAdminOnce, describeRefusal } from '../ask-admin.ts';
import {
  CONFIG_OPTION,
  type Command,
  type CommandIo,
  type ExitCode,
  hasOption,
  JSON_OPTION,
} from '../command.ts';
import { findAdmin } from '../load-for-command.ts';

export const reloadCommand: Command = {
  name: 'reload',
  usage: '[-c FILE] [--json]',
  takesWords: false,
  summary: 'have the running gateway read its files again; exit status 1 when it refuses them',
  options: { config: CONFIG_OPTION, json: JSON_OPTION },
  run: async (args, io) => {
    const admin = await findAdmin(args, io);
    if (admin === null) return 1;
    const asked = await askAdminOnce(admin, { method: 'POST', path: '/reload' });
    if (asked.ok) return report(asked.value, hasOption(args, 'json'), io);
    io.stderr.write(`edge-gateway: ${asked.error}. ${RENDERER_NOTE}\n`);
    return 1;
  },
};

function report({ status, value }: AdminObject, isJson: boolean, io: CommandIo): ExitCode {
  const { applied, diagnostics, needs_restart: needsRestart } = fieldsOf(value);
  const exitCode = status === 200 && applied === true ? 0 : 1;
  if (isJson) {
    io.stdout.write(`${JSON.stringify(value)}\n`);
    return exitCode;
  }
  for (const message of textsOf(diagnostics)) io.stderr.write(`${message}\n`);
  if (exitCode === 1) {
    const reason = Array.isArray(diagnostics) ? NOT_APPLIED : describeRefusal(status, value);
    io.stderr.write(`edge-gateway: ${reason}\n`);
    return exitCode;
  }
  const late = textsOf(needsRestart);
  const note =
    late.length === 0 ? '' : `; changed and in effect after a restart: ${late.join(', ')}`;
  io.stdout.write(`reloaded${note}\n`);
  return exitCode;
}

const RENDERER_NOTE =
  'A render service has no such listener: it reloads when a file is saved, or on SIGHUP';
const NOT_APPLIED = 'not reloaded: the gateway goes on with the configuration before';

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
