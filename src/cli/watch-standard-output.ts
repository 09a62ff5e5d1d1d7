// Ends the process when nobody can be told anything any more.
import process from 'node:process';

export function watchStandardOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // `edge-gateway normalize | head`: the reader has seen enough.
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(`edge-gateway: standard output: ${error.message}\n`);
    process.exit(1);
  });
}
