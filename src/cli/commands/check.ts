// `edge-gateway check`: the same validation as at start, with every diagnostic printed.
import { formatDiagnostic } from '../../config/diagnostic.ts';
import { loadConfig } from '../../config/load-config.ts';
import type { Rule } from '../../core/policy/policy.ts';
import { CONFIG_OPTION, type Command, DEFAULT_CONFIG_FILE, textOption } from '../command.ts';

export const checkCommand: Command = {
  name: 'check',
  usage: '[-c FILE]',
  takesWords: false,
  summary: 'validate the configuration; print every problem with file, line and column',
  options: { config: CONFIG_OPTION },
  run: async (args, io) => {
    const file = textOption(args, 'config', DEFAULT_CONFIG_FILE);
    const { config, diagnostics } = await loadConfig(file, io.env);
    for (const severity of ['error', 'warning'] as const) {
      for (const problem of diagnostics) {
        if (problem.severity === severity) io.stderr.write(`${formatDiagnostic(problem)}\n`);
      }
    }
    const errors = diagnostics.filter((problem) => problem.severity === 'error').length;
    const warnings = diagnostics.length - errors;
    const counts = `${count(errors, 'error')}, ${count(warnings, 'warning')}`;
    if (config === null) {
      io.stderr.write(`${file}: ${counts}\n`);
      return 1;
    }
    const { hosts } = config.policies;
    const rules = hosts.reduce((sum, host) => sum + countEntries(host.rules), 0);
    io.stdout.write(
      `${file}: ok, ${count(hosts.length, 'host')}, ${count(rules, 'rule')}, ${counts}\n`,
    );
    return 0;
  },
};

/** As a person wrote them: an entry with several patterns has become several rules. */
function countEntries(rules: readonly Rule[]): number {
  return new Set(rules.map(({ order }) => order)).size;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
