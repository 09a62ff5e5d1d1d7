// Connections to an origin are bounded: who waits for one waits no longer than for an answer.
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { waitUntil } from '../helpers/wait-until.ts';
import { openClient, slowly } from '../lane/lane-client.ts';
import { humanGet } from '../lane/pass-client.ts';
import { setStage } from '../scenario/stage.ts';

/** Of the long way, per origin. */
const SOCKETS_MAX = 512;

test('all connections are held by bodies that take their time: 504 in time', async () => {
  const held: Socket[] = [];
  const stage = await setStage({
    host: 'bypass: {timeout: 1s}\n',
    origin: (_request, socket) => {
      held.push(socket);
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nbegun');
      return null;
    },
  });
  const clients = await Promise.all(
    Array.from({ length: SOCKETS_MAX }, () => openClient(stage.gateway.port)),
  );
  for (const client of clients) client.send(slowly(humanGet('/held')));
  await waitUntil('all are held', () => held.length === SOCKETS_MAX);
  const last = await openClient(stage.gateway.port);
  const answer = await last.ask(slowly(humanGet('/one-more')));
  expect(answer).toMatch(/^HTTP\/1\.1 504 /);
  expect(answer).toContain('error=connection_timeout');
  // Nobody asks for it when there is a connection at last.
  for (const socket of held.splice(0)) socket.write('ended');
  await Promise.all(clients.map((client) => client.answers(1)));
  const next = await openClient(stage.gateway.port);
  next.send(slowly(humanGet('/next')));
  await waitUntil('the next is asked for', () => stage.origin.requests.length === SOCKETS_MAX + 1);
  expect(stage.origin.requests.at(-1)?.target).toBe('/next');
}, 60_000);
