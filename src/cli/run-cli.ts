// Finds the command, parses its options by its table, prints help. Knows no command's work.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Command, CommandIo, ExitCode, ParsedArguments } from './command.ts';
import { refuseUsage } from './command.ts';

/** In the order of the help. Loaded when called: `health` is asked often and needs little. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/serve.ts')).serveCommand,
  'render-service': async () => (await import('./commands/render-service.ts')).renderServiceCommand,
  check: async () => (await import('./commands/check.ts')).checkCommand,
  reload: async () => (await import('./commands/reload.ts')).reloadCommand,
  health: async () => (await import('./commands/health.ts')).healthCommand,
  explain: async () => (await import('./commands/explain.ts')).explainCommand,
  normalize: async () => (await import('./commands/normalize.ts')).normalizeCommand,
  purge: async () => (await import('./commands/purge.ts')).purgeCommand,
  recache: async () => (await import('./commands/recache.ts')).recacheCommand,
  warm: async () => (await import('./commands/warm.ts')).warmCommand,
  verify: async () => (await import('./commands/verify.ts')).verifyCommand,
  bots: async () => (await import('./commands/bots.ts')).botsCommand,
};

/** Runs one command line, without the program's own name. */
export async function runCli(argv: readonly string[], io: CommandIo): Promise<ExitCode> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    io.stdout.write(await formatHelp());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version') {
    io.stdout.write(`${readVersion()}\n`);
    return 0;
  }
  // The reference engine's spelling of `check`.
  const commandName = name === '-t' ? 'check' : name;
  const load = Object.hasOwn(COMMANDS, commandName) ? COMMANDS[commandName] : undefined;
  if (load === undefined) {
    return refuseUsage(io, `there is no command "${name}"; see edge-gateway --help`);
  }
  const command = await load();
  const parsed = parseOptions(command, rest);
  if (typeof parsed === 'string') {
    return refuseUsage(io, `${parsed}; see edge-gateway ${command.name} --help`);
  }
  if (parsed.values['help'] === true) {
    io.stdout.write(formatCommandHelp(command));
    return 0;
  }
  return await runCommand(command, parsed, io);
}

/** A file or store that can't be used is told in one line; anything else is a defect. */
async function runCommand(
  command: Command,
  args: ParsedArguments,
  io: CommandIo,
): Promise<ExitCode> {
  try {
    return await command.run(args, io);
  } catch (cause) {
    if (!isOperational(cause)) throw cause;
    io.stderr.write(`edge-gateway: ${cause.message}\n`);
    return 1;
  }
}

/** What the system or a store reports has its own code; `ERR_…` are Node's, for wrong calls. */
function isOperational(cause: unknown): cause is Error {
  if (!(cause instanceof Error) || !('code' in cause)) return false;
  return typeof cause.code === 'string' && !cause.code.startsWith('ERR_');
}

/** From the package this program lies in, as source and as build alike. */
function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version }: { readonly version: string } = JSON.parse(text);
  return version;
}

function parseOptions(command: Command, argv: readonly string[]): ParsedArguments | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: { ...command.options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: command.takesWords,
    });
    return { values: values as ParsedArguments['values'], positionals };
  } catch (cause) {
    // parseArgs throws for wrong usage only; the first sentence of its message is for the person.
    const message = cause instanceof Error ? cause.message : String(cause);
    return message.split('. ', 1)[0] ?? message;
  }
}

async function formatHelp(): Promise<string> {
  const commands = await Promise.all(Object.values(COMMANDS).map((load) => load()));
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`);
  return [
    'edge-gateway: serves crawlers the rendered pages of a JavaScript site\n\n',
    'Usage: edge-gateway COMMAND [OPTIONS]\n\n',
    ...lines,
    '\nedge-gateway COMMAND --help tells more. Exit status: 0 done, 1 failed, 2 wrong usage.\n',
  ].join('');
}

function formatCommandHelp({ name, usage, summary, options }: Command): string {
  const lines = Object.entries(options).map(([option, { short, help }]) => {
    const flags = short === undefined ? `    --${option}` : `-${short}, --${option}`;
    return `  ${flags.padEnd(18)} ${help}\n`;
  });
  return `Usage: edge-gateway ${name} ${usage}\n\n${summary}\n\n${lines.join('')}`;
}
