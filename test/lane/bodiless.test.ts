// Answers without a body over kept connections to the origin, whichever way and method: the next
// request gets its own answer, and nothing breaks off.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startTestGateway } from '../helpers/gateway.ts';
import { hostsText } from '../scenario/stage.ts';
import { openClient, slowly } from './lane-client.ts';
import { humanGet } from './pass-client.ts';

const REQUESTS = 8;
const CONDITION = ['If-None-Match: "a"'];

const rows: readonly (readonly [string, (status: number) => string])[] = [
  ['GET', (status) => humanGet(`/${status}`, CONDITION)],
  ['GET the long way', (status) => slowly(humanGet(`/${status}`, CONDITION))],
  ['OPTIONS', (status) => humanGet(`/${status}`, CONDITION).replace('GET', 'OPTIONS')],
  [
    'POST',
    (status) =>
      humanGet(`/${status}`, [...CONDITION, 'Content-Length: 1'])
        .replace('GET', 'POST')
        .concat('a'),
  ],
];

test.each(
  rows.flatMap(([what, make]) => [204, 304].map((status) => [what, status, make] as const)),
)('%s answered %i', async (_what, status, make) => {
  const origin = createServer((request, response) => {
    request.resume();
    response.statusCode = Number(request.url?.slice(1));
    response.end();
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  onTestFinished(() => void origin.close());
  const { port } = origin.address() as AddressInfo;
  const gateway = await startTestGateway({
    gateway: 'render: {engine: origin}\n',
    hosts: hostsText(`http://127.0.0.1:${port}`),
  });
  onTestFinished(gateway.close);
  for (let i = 0; i < REQUESTS; i += 1) {
    const client = await openClient(gateway.port);
    // One by one, and two at once.
    expect(await client.ask(make(status))).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    client.send(make(status) + make(status));
    const answers = await client.answers(3);
    expect(answers.every((text) => text.startsWith(`HTTP/1.1 ${status} `))).toBe(true);
    client.socket.destroy();
  }
});
