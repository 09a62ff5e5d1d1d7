// `edge-gateway reload`: has the running gateway read its files again, and fails when it refuses
// them, which a signal can't tell.
import { fieldsOf } from '../../core/records.ts';
import { askAdminOnce, describeRefusal, LONG_WORK_TIMEOUT_MS } from '../ask-admin.ts';
import {
  CONFIG_OPTION,
  type Command,
  type CommandIo,
  type ExitCode,
  fail,
  hasOption,
  JSON_OPTION,
} from '../command.ts';
import { findAdmin } from '../load-for-command.ts';
import { writeText } from '../write-text.ts';

export const reloadCommand: Command = {
  name: 'reload',
  usage: '[-c FILE] [--json]',
  takesWords: false,
  summary: 'have the running gateway read its files again; exit status 1 when it refuses them',
  options: { config: CONFIG_OPTION, json: JSON_OPTION },
  run: async (args, io) => {
    const admin = await findAdmin(args, io);
    if (admin === null) return 1;
    const timeoutMs = LONG_WORK_TIMEOUT_MS;
    const question = { method: 'POST', path: '/reload', timeoutMs } as const;
    const asked = await askAdminOnce(admin, question, io.stderr);
    if (!asked.ok) return fail(io, `${asked.error}. ${RENDERER_NOTE}`);
    const { status, value } = asked.value;
    const outcome = readOutcome(value);
    if (outcome === null) return fail(io, describeRefusal(status, value));
    const isApplied = status === 200 && outcome.isApplied;
    if (hasOption(args, 'json')) {
      writeText(io.stdout, `${JSON.stringify(value)}\n`);
      return isApplied ? 0 : 1;
    }
    return report({ ...outcome, isApplied }, io);
  },
};

interface Outcome {
  readonly isApplied: boolean;
  readonly diagnostics: readonly string[];
  readonly needsRestart: readonly string[];
}

/** null: it says something else. */
function readOutcome(value: unknown): Outcome | null {
  const { applied, diagnostics, needs_restart: needsRestart } = fieldsOf(value);
  if (typeof applied !== 'boolean' || !isTexts(diagnostics) || !isTexts(needsRestart)) return null;
  return { isApplied: applied, diagnostics, needsRestart };
}

function report({ isApplied, diagnostics, needsRestart }: Outcome, io: CommandIo): ExitCode {
  for (const message of diagnostics) writeText(io.stderr, `${message}\n`);
  if (!isApplied) return fail(io, NOT_APPLIED);
  const list = needsRestart.join(', ');
  const note = list === '' ? '' : `; changed and in effect after a restart: ${list}`;
  writeText(io.stdout, `reloaded${note}\n`);
  return 0;
}

const RENDERER_NOTE =
  'A render service has no such listener: it reloads when a file is saved, or on SIGHUP';
const NOT_APPLIED = 'not reloaded: the gateway goes on with the configuration before';

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}
