// A body that is read for the store while it goes to its client: whole or not at all, and never more
// of it in memory than is allowed.
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createBodyCollector } from '../../src/pipeline/shared-cache/collect-body.ts';

const LIMITS = { bytesMax: 10, idleMs: 60_000 };

function collect(bytesAtOnceMax = 100) {
  const collectBody = createBodyCollector(bytesAtOnceMax);
  return () => {
    const body = new PassThrough();
    return { body, ...collectBody(body, LIMITS) };
  };
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

test('too large: the client gets it, the store does not', async () => {
  const { body, stream, whole } = collect()();
  body.write('0123456789');
  body.end('x');
  expect(await whole).toBe(null);
  expect(await text(stream)).toBe('0123456789x');
});

test('too large, and nobody reads: it ends', async () => {
  const { body, stream, whole } = collect()();
  stream.destroy();
  body.write('0123456789x');
  expect(await whole).toBe(null);
  expect(body.destroyed).toBe(true);
});

test('too large, and read slowly: it is read no faster', async () => {
  const { body, stream, whole } = collect()();
  body.write('0123456789x');
  expect(await whole).toBe(null);
  body.write(Buffer.alloc(200_000));
  await expect.poll(() => body.isPaused()).toBe(true);
  stream.resume();
  body.end();
  await expect.poll(() => stream.readableEnded).toBe(true);
});

test('too much at once: the later one goes unkept, and room comes back', async () => {
  const open = collect(10);
  const first = open();
  const second = open();
  first.body.write('12345678');
  await expect.poll(() => first.stream.readableLength).toBe(8);
  second.body.end('abcd');
  expect(await second.whole).toBe(null);
  expect(await text(second.stream)).toBe('abcd');
  first.body.end();
  expect(String(await first.whole)).toBe('12345678');
  const third = open();
  third.body.end('abcd');
  expect(String(await third.whole)).toBe('abcd');
});

test('cut: neither has it', async () => {
  const { body, stream, whole } = collect()();
  body.write('abc');
  const read = text(stream);
  body.destroy(new Error('cut'));
  expect(await whole).toBe(null);
  await expect(read).rejects.toThrow();
});

test('stalled: it is given up', async () => {
  const body = new PassThrough();
  const { stream, whole } = createBodyCollector(100)(body, { bytesMax: 10, idleMs: 20 });
  body.write('abc');
  expect(await whole).toBe(null);
  await expect.poll(() => stream.destroyed).toBe(true);
});
