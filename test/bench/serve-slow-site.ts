// The origin of the burst bench in a process of its own: 20 KB after 200 ms; what is under /shared/
// may be kept. Sends its port.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const ANSWER_MS = 200;
const BACKLOG = 1_024;
const body = 'x'.repeat(20_000);

const server = createServer(({ url = '' }, response) => {
  setTimeout(() => {
    const control = url.startsWith('/shared/') ? 'max-age=600' : 'no-store';
    response.writeHead(200, { 'Cache-Control': control, 'Content-Length': body.length }).end(body);
  }, ANSWER_MS);
});
server.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG }, () => {
  process.send?.((server.address() as AddressInfo).port);
});
