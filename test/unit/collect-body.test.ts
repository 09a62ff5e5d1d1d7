// A body that is read for the store while it goes to its client: whole or not at all, and never more
// of it in memory than is allowed.
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createBodyCollector, type Held } from '../../src/pipeline/shared-cache/collect-body.ts';

const LIMITS = { bytesMax: 10, idleMs: 60_000 };

function collect(bytesAtOnceMax = 100, held: Held = { bytes: 0 }) {
  const collectBody = createBodyCollector(bytesAtOnceMax, held);
  return () => {
    const body = new PassThrough();
    return { body, ...collectBody(body, LIMITS) };
  };
}

function* cut(all: Buffer, bytes: number): Generator<Buffer> {
  for (let at = 0; at < all.length; at += bytes) yield all.subarray(at, at + bytes);
}

test('both get all of it', async () => {
  const { body, stream, whole } = collect()();
  body.write('abc');
  body.end('def');
  expect(await text(stream)).toBe('abcdef');
  expect(String(await whole)).toBe('abcdef');
});

test('nobody has to read for it to be kept', async () => {
  const { body, stream, whole } = collect()();
  stream.destroy();
  body.end('abc');
  expect(String(await whole)).toBe('abc');
});

test('cut before anybody reads it: it is cut for both', async () => {
  const body = new PassThrough();
  body.destroy();
  await once(body, 'close');
  const { stream, whole } = createBodyCollector(100)(body, LIMITS);
  expect(await whole).toBe('cut');
  expect(stream.destroyed).toBe(true);
});

test('too large: the client gets it, the store does not', async () => {
  const { body, stream, whole } = collect()();
  body.write('0123456789');
  body.end('x');
  expect(await whole).toBe('too_large');
  expect(await text(stream)).toBe('0123456789x');
});

test('too large, and nobody reads: it ends', async () => {
  const { body, stream, whole } = collect()();
  stream.destroy();
  body.write('0123456789x');
  expect(await whole).toBe('too_large');
  expect(body.destroyed).toBe(true);
});

test('too large, and read slowly: it is read no faster', async () => {
  const { body, stream, whole } = collect()();
  body.write('0123456789x');
  expect(await whole).toBe('too_large');
  body.write(Buffer.alloc(200_000));
  await expect.poll(() => body.isPaused()).toBe(true);
  stream.resume();
  body.end();
  await expect.poll(() => stream.readableEnded).toBe(true);
});

test('too much at once: the later one goes unkept, and room comes back', async () => {
  const held = { bytes: 0 };
  const open = collect(10, held);
  const first = open();
  const second = open();
  first.body.write('12345678');
  await expect.poll(() => held.bytes).toBe(8);
  second.body.end('abcd');
  expect(await second.whole).toBe('no_room');
  expect(await text(second.stream)).toBe('abcd');
  first.body.end();
  expect(String(await first.whole)).toBe('12345678');
  // Two have it still.
  first.release();
  expect(held.bytes).toBe(8);
  expect(await text(first.stream)).toBe('12345678');
  expect(held.bytes).toBe(0);
  const third = open();
  third.body.end('abcd');
  expect(String(await third.whole)).toBe('abcd');
});

test('clients that take nothing: no more is held than may be, and origins wait', async () => {
  const bytesMax = 1_000_000;
  const held = { bytes: 0 };
  const collectBody = createBodyCollector(bytesMax, held);
  const sent = Buffer.alloc(400_000, 'x');
  const all = Array.from({ length: 20 }, () => {
    const body = Readable.from(cut(sent, 10_000), { objectMode: false });
    const collecting = collectBody(body, { bytesMax, idleMs: 60_000 });
    void collecting.whole.then(collecting.release);
    return { body, ...collecting };
  });
  const kept = await Promise.all(all.map(({ whole }) => whole));
  expect(kept.filter((one) => one === 'no_room').length).toBeGreaterThanOrEqual(18);
  const waiting = all.filter(({ body }) => body.isPaused());
  expect(waiting.length).toBeGreaterThanOrEqual(18);
  // Each that is not kept has one piece in the hand.
  expect(held.bytes).toBeLessThanOrEqual(bytesMax + all.length * 10_000);
  const read = await Promise.all(all.map(({ stream }) => buffer(stream)));
  expect(read.every((one) => one.equals(sent))).toBe(true);
  expect(held.bytes).toBe(0);
});

test('a client that leaves gives back what it has not taken', async () => {
  const held = { bytes: 0 };
  const { body, stream, whole, release } = collect(100, held)();
  body.end('abc');
  expect(String(await whole)).toBe('abc');
  release();
  expect(held.bytes).toBe(3);
  stream.destroy();
  await expect.poll(() => held.bytes).toBe(0);
});

test('cut: neither has it', async () => {
  const { body, stream, whole } = collect()();
  body.write('abc');
  const read = text(stream);
  body.destroy(new Error('cut'));
  expect(await whole).toBe('cut');
  await expect(read).rejects.toThrow();
});

test('stalled: it is given up', async () => {
  const body = new PassThrough();
  const { stream, whole } = createBodyCollector(100)(body, { bytesMax: 10, idleMs: 20 });
  body.write('abc');
  expect(await whole).toBe('cut');
  await expect.poll(() => stream.destroyed).toBe(true);
});
