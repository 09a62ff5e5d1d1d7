// The origin of the public suite http-cache-tests, by the suite's own handlers, on the loopback
// address: the one that comes with it listens on every address and leaves a file with its pid.
import { once } from 'node:events';
import { createServer } from 'node:http';
import handleConfig from 'http-cache-tests/server/handle-config.mjs';
import handleState from 'http-cache-tests/server/handle-state.mjs';
import handleTest from 'http-cache-tests/server/handle-test.mjs';

const HANDLERS = { config: handleConfig, test: handleTest, state: handleState };

/** Starts it on a free port. */
export async function startSuiteOrigin() {
  const server = createServer((request, response) => {
    const [, kind, ...segments] = new URL(request.url, 'http://origin').pathname.split('/');
    const handle = HANDLERS[kind];
    if (handle === undefined) response.writeHead(404).end();
    else handle(segments, request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
