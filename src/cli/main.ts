#!/usr/bin/env node
// The program. Everything it does is in run-cli, which tests call with streams of their own.
import process from 'node:process';
import { runCli } from './run-cli.ts';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // `edge-gateway normalize | head`: the reader has seen enough.
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`edge-gateway: standard output: ${error.message}\n`);
  process.exit(1);
});

const status = await runCli(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
});

process.exitCode = status;
// What a failed start has already opened must not keep the process alive.
if (status !== 0) process.exit();
