// Loads the configuration for a command: every problem is printed, warnings too, and a
// configuration with an error is none. What asks the running gateway does without it then: one
// broken file must not keep everybody from purging.
import { formatDiagnostic } from '../config/diagnostic.ts';
import { loadAdmin } from '../config/load-admin.ts';
import { loadConfig } from '../config/load-config.ts';
import type { AdminSettings, Config } from '../config/settings.ts';
import {
  type CommandIo,
  DEFAULT_CONFIG_FILE,
  type ParsedArguments,
  textOption,
} from './command.ts';

/** What a command works with: the files on disk, or the gateway that runs with earlier ones. */
export type CommandBasis =
  | { readonly kind: 'files'; readonly config: Config; readonly admin: AdminSettings }
  | { readonly kind: 'running'; readonly admin: AdminSettings };

/** The configuration named by `-c`, or null after its errors were printed. */
export async function loadForCommand(args: ParsedArguments, io: CommandIo): Promise<Config | null> {
  const { config, diagnostics } = await loadConfig(fileOf(args), io.env);
  for (const problem of diagnostics) io.stderr.write(`${formatDiagnostic(problem)}\n`);
  return config;
}

/** As `loadForCommand`; with errors the running gateway, where the file says how it is asked. */
export async function loadOrAsk(
  args: ParsedArguments,
  io: CommandIo,
): Promise<CommandBasis | null> {
  const config = await loadForCommand(args, io);
  if (config !== null) return { kind: 'files', config, admin: config.settings.admin };
  const admin = await loadAdmin(fileOf(args), io.env);
  if (admin === null) return null;
  io.stderr.write(
    'edge-gateway: warning: the files on disk have errors; the running gateway is asked,' +
      ' which goes on with the configuration before\n',
  );
  return { kind: 'running', admin };
}

/** For what the running gateway alone does; null after the reason was printed. */
export async function findAdmin(
  args: ParsedArguments,
  io: CommandIo,
): Promise<AdminSettings | null> {
  const admin = await loadAdmin(fileOf(args), io.env);
  return admin ?? (await loadForCommand(args, io))?.settings.admin ?? null;
}

function fileOf(args: ParsedArguments): string {
  return textOption(args, 'config', DEFAULT_CONFIG_FILE);
}
