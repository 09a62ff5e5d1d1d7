// Ports that nobody listens on now, for programs that want to be told theirs.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that systems hand out by themselves, to any connection that is opened meanwhile. */
const [PORT_MIN, PORT_MAX] = [12_000, 32_000];

/** What this process was given: somebody still means to listen there. */
const given = new Set<number>();

/** Free on loopback when this resolves; another process may still take it. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORT_MIN, PORT_MAX);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    // Taken is the answer, whoever has it.
    return false;
  }
  await once(server.close(), 'close');
  return true;
}
