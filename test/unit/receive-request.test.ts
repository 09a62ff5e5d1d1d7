// What the decision reads of a request line, over a real socket.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { receiveRequest } from '../../src/server/gateway/receive-request.ts';

async function urlOf(method: string, path: string): Promise<string> {
  const server = createServer((incoming, response) => {
    response.end(receiveRequest(incoming, incoming.url ?? '', () => false).client.url);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const asked = request({ port, host: '127.0.0.1', method, path, headers: { host: 'a.example' } });
  asked.end();
  try {
    const [response] = await once(asked, 'response');
    return (await response.toArray()).join('');
  } finally {
    server.close();
  }
}

test.each([
  ['OPTIONS', '*', 'http://a.example/'],
  ['GET', '/a*?b=*', 'http://a.example/a*?b=*'],
])('%s %s is decided as %s', async (method, path, url) => {
  expect(await urlOf(method, path)).toBe(url);
});
