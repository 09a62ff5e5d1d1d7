// One outgoing buffer for all clients: what one of them is slow to take is never written over by
// what goes to the next.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Outgoing } from '../../src/server/lane/outgoing.ts';

/** Both ends of one connection. */
interface Pair {
  readonly ours: Socket;
  readonly theirs: Socket;
}

const CLIENTS = 4;
const STUFFING = 'x'.repeat(1_000_000);
const server = createServer();
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => void server.close());

async function openPair(): Promise<Pair> {
  const accepted = once(server, 'connection');
  const theirs = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  const [ours] = (await accepted) as [Socket];
  return { ours, theirs };
}

/** What one client is sent: pieces of a text that no other has. */
type Piece = { readonly kind: 'text' | 'bytes'; readonly length: number };

const piece: fc.Arbitrary<Piece> = fc.record({
  kind: fc.constantFrom('text', 'bytes'),
  length: fc.oneof(fc.nat(50), fc.nat(30_000), fc.nat(300_000)),
});
const message = fc.record({
  client: fc.nat(CLIENTS - 1),
  expected: fc.nat(120_000),
  pieces: fc.array(piece, { maxLength: 4 }),
});

async function readAll({ theirs }: Pair): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of theirs) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('latin1');
}

/** Sends so much that the system takes no more. */
function block(socket: Socket): string {
  let sent = '';
  while (socket.writableLength === 0) {
    socket.write(STUFFING, 'latin1');
    sent += STUFFING;
  }
  return sent;
}

test('everybody gets what was meant for them, however slow they are', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 30 }), async (messages) => {
      const outgoing = new Outgoing();
      const pairs: Pair[] = [];
      while (pairs.length < CLIENTS) pairs.push(await openPair());
      const meant = pairs.map(({ ours }) => block(ours));
      for (const [turn, { client, expected, pieces }] of messages.entries()) {
        const pair = pairs[client];
        if (pair === undefined) continue;
        outgoing.begin(pair.ours, expected);
        for (const { kind, length } of pieces) {
          const text = String.fromCharCode(0xa0 + turn).repeat(length);
          if (kind === 'text') outgoing.addText(text);
          else outgoing.addBytes(Buffer.from(text, 'latin1'));
          meant[client] += text;
        }
        outgoing.send();
      }
      for (const { ours } of pairs) ours.end();
      const texts = await Promise.all(pairs.map(readAll));
      texts.forEach((text, client) => expect(text === meant[client]).toBe(true));
    }),
    { numRuns: 40 },
  );
}, 60_000);

test('an answer that is taken at once is one write', async () => {
  const outgoing = new Outgoing();
  const { ours, theirs } = await openPair();
  const got = readAll({ ours, theirs });
  outgoing.begin(ours, 20_000);
  outgoing.addText('head');
  outgoing.addBytes(Buffer.alloc(20_000));
  expect(ours.bytesWritten).toBe(0);
  outgoing.send();
  expect(ours.bytesWritten).toBe(20_004);
  outgoing.send();
  ours.end();
  expect(await got).toHaveLength(20_004);
});
