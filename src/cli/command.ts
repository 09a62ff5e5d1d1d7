// What a command is: a line of help, its options, and a function of its arguments and streams.
import type { Readable, Writable } from 'node:stream';
import type { ParseArgsConfig } from 'node:util';
import { writeText } from './write-text.ts';

/** 0: done. 1: it did not work out (invalid configuration, store unreachable). 2: wrong usage. */
export type ExitCode = 0 | 1 | 2;

export interface CommandIo {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface ParsedArguments {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

export interface Command {
  readonly name: string;
  /** Arguments, as shown after the command's name. */
  readonly usage: string;
  /** Whether there may be a word that is no option: the command itself says how many. */
  readonly takesWords: boolean;
  readonly summary: string;
  /** Each option with its help line, in the order shown. */
  readonly options: Readonly<Record<string, CommandOption>>;
  readonly run: (args: ParsedArguments, io: CommandIo) => Promise<ExitCode>;
}

export type CommandOption = NonNullable<ParseArgsConfig['options']>[string] & {
  readonly help: string;
};

export const CONFIG_OPTION: CommandOption = {
  type: 'string',
  short: 'c',
  help: 'FILE  the configuration (default: edge-gateway.yaml)',
};

export const JSON_OPTION: CommandOption = {
  type: 'boolean',
  help: 'print JSON, one object a line',
};

export const DEFAULT_CONFIG_FILE = 'edge-gateway.yaml';

/** The text of an option, or its default. */
export function textOption(args: ParsedArguments, name: string, fallback: string): string {
  const value = args.values[name];
  return typeof value === 'string' ? value : fallback;
}

export function hasOption(args: ParsedArguments, name: string): boolean {
  return args.values[name] === true;
}

/** A usage error: one line on stderr, exit status 2. */
export function refuseUsage(io: CommandIo, message: string): ExitCode {
  io.stderr.write(`edge-gateway: ${message}\n`);
  return 2;
}

/** It did not work out: why, on stderr, exit status 1. */
export function fail(io: CommandIo, message: string): ExitCode {
  writeText(io.stderr, `edge-gateway: ${message}\n`);
  return 1;
}
