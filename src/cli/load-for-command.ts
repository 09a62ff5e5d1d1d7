// Loads the configuration for a command: every problem is printed, warnings too, and a
// configuration with an error is none.
import { formatDiagnostic } from '../config/diagnostic.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Config } from '../config/settings.ts';
import {
  type CommandIo,
  DEFAULT_CONFIG_FILE,
  type ParsedArguments,
  textOption,
} from './command.ts';

/** The configuration named by `-c`, or null after its errors were printed. */
export async function loadForCommand(args: ParsedArguments, io: CommandIo): Promise<Config | null> {
  const file = textOption(args, 'config', DEFAULT_CONFIG_FILE);
  const { config, diagnostics } = await loadConfig(file, io.env);
  for (const problem of diagnostics) io.stderr.write(`${formatDiagnostic(problem)}\n`);
  return config;
}
