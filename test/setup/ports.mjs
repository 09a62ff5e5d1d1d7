// Whether ports can be had, asked before anything is started, so that the answer is one plain line.
import { createServer } from 'node:net';

/** The first of the entries whose `port` is taken, or undefined. */
export async function findBusyPort(entries) {
  for (const entry of entries) {
    if (!(await isFree(entry.port))) return entry;
  }
  return undefined;
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
