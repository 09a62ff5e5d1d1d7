// A publisher of address lists: HTTPS on a loopback port, under a name of its own.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import { onTestFinished } from 'vitest';
import { makeCertificate } from '../helpers/self-signed.ts';

export interface ListServer {
  /** `https://<name>:<port>` */
  readonly url: string;
  readonly cert: string;
  readonly requests: readonly IncomingMessage[];
}

/** Every name leads to this machine. */
export const loopbackLookup: LookupFunction = (_name, options, callback) => {
  if (options.all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
  else callback(null, '127.0.0.1', 4);
};

/** Starts one that ends with the test. */
export async function startListServer(
  name: string,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<ListServer> {
  const { cert, key } = makeCertificate(name);
  const requests: IncomingMessage[] = [];
  const server = createServer({ cert, key }, (request, response) => {
    requests.push(request);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `https://${name}:${port}`, cert, requests };
}
