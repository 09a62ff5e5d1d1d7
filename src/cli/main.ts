#!/usr/bin/env node
// The program. Everything it does is in run-cli, which tests call with streams of their own.
import process from 'node:process';
import { runCli } from './run-cli.ts';
import { watchStandardOutput } from './watch-standard-output.ts';

watchStandardOutput();
const status = await runCli(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
});

process.exitCode = status;
// What a failed start has already opened must not keep the process alive.
if (status !== 0) process.exit();
