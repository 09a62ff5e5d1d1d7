// Dealing connections: by turns to who is free, again when it was not taken, waiting when nobody is
// there, and closed when too many wait. On real sockets, with workers that are only functions.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createDealer, type Dealer, type Seat } from '../../src/adapters/workers/dealer.ts';
import { waitUntil } from '../helpers/wait-until.ts';

interface Given {
  readonly port: string;
  readonly id: number;
  readonly socket: Socket;
}

interface TestWorker {
  readonly given: Given[];
  readonly seat: Seat;
}

function sit(dealer: Dealer): TestWorker {
  const given: Given[] = [];
  return { given, seat: dealer.seat((port, id, socket) => given.push({ port, id, socket })) };
}

/** Both ends of so many connections; the near ends are those that are dealt. */
async function makeConnections(count: number): Promise<readonly (readonly [Socket, Socket])[]> {
  const near: Socket[] = [];
  const server = createServer({ pauseOnConnect: true }, (socket) => near.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const far: Socket[] = [];
  for (let index = 0; index < count; index += 1) {
    const socket = connect(port, '127.0.0.1');
    far.push(socket);
    await waitUntil('accepted', () => near.length === index + 1);
  }
  onTestFinished(() => {
    for (const socket of [...near, ...far]) socket.destroy();
    server.close();
  });
  return near.map((socket, index) => [socket, far[index] ?? socket] as const);
}

test('by turns, each its next one when it took the last', async () => {
  const dealer = createDealer(10);
  const [one, other] = [sit(dealer), sit(dealer)];
  const connections = await makeConnections(4);
  for (const [socket] of connections) dealer.deal('plain', socket);
  expect([one.given.length, other.given.length]).toEqual([1, 1]);
  other.seat.accepted(other.given[0]?.id ?? 0);
  other.seat.accepted(other.given[1]?.id ?? 0);
  expect([one.given.length, other.given.length]).toEqual([1, 3]);
  // The own copy of what was taken is given up; what was not is kept.
  expect(connections.map(([socket]) => socket.destroyed)).toEqual([false, true, true, false]);
  expect(other.given.map(({ port }) => port)).toEqual(['plain', 'plain', 'plain']);
});

test('what a worker had not taken goes to another one when it dies, before those that wait', async () => {
  const dealer = createDealer(10);
  const dying = sit(dealer);
  const connections = await makeConnections(2);
  for (const [socket] of connections) dealer.deal('secure', socket);
  dying.seat.leave();
  const next = sit(dealer);
  next.seat.accepted(next.given[0]?.id ?? 0);
  expect(next.given.map(({ socket }) => socket)).toEqual(connections.map(([socket]) => socket));
  expect(dying.given).toHaveLength(1);
});

test('who retires takes what it was given, and gets no more', async () => {
  const dealer = createDealer(10);
  const leaving = sit(dealer);
  const connections = await makeConnections(2);
  const [[first], [second]] = connections as [[Socket, Socket], [Socket, Socket]];
  dealer.deal('plain', first);
  leaving.seat.retire();
  leaving.seat.accepted(leaving.given[0]?.id ?? 0);
  dealer.deal('plain', second);
  leaving.seat.leave();
  expect(leaving.given).toHaveLength(1);
  expect([first.destroyed, second.destroyed]).toEqual([true, false]);
  expect(sit(dealer).given.map(({ socket }) => socket)).toEqual([second]);
});

test('too many that wait, and all at the end, are closed', async () => {
  const dealer = createDealer(2);
  const connections = await makeConnections(3);
  for (const [socket] of connections) dealer.deal('plain', socket);
  expect(connections.map(([socket]) => socket.destroyed)).toEqual([false, false, true]);
  dealer.close();
  expect(connections.every(([socket]) => socket.destroyed)).toBe(true);
});
