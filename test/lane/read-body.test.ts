// Where a body ends, held against Node's client: the same bytes in the same pieces are the same
// body and trailers, or broken for both. What is handed on is never anything but body.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changeText, cutText, type Reading, readByLane, useNodeReader } from './answer-readers.ts';

const node = useNodeReader();

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

/** In as many pieces as there are bytes, too. */
function waysToCut(bytes: string): readonly (readonly string[])[] {
  const halves = Array.from({ length: bytes.length - 1 }, (_, index) => [
    bytes.slice(0, index + 1),
    bytes.slice(index + 1),
  ]);
  return [[bytes], [...bytes], ...halves];
}

function readInAllWays(body: string): Reading {
  const readings = waysToCut(body).map((pieces) => readByLane([CHUNKED, ...pieces]));
  const [first] = readings;
  for (const reading of readings) {
    // What is broken breaks sooner or later, but it breaks.
    if (first?.isWhole === true) expect(reading).toEqual(first);
    else expect(reading?.isWhole).toBe(false);
  }
  if (first === undefined || first === null) throw new Error('the head is plain');
  return first;
}

describe('chunks that Node reads are read in the same way', () => {
  test.each([
    ['nothing', '0\r\n\r\n', ''],
    ['one', '5\r\nhello\r\n0\r\n\r\n', 'hello'],
    ['two', '2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n', 'hello'],
    ['sizes in any case', 'a\r\n0123456789\r\nB\r\n0123456789a\r\n0\r\n\r\n', null],
    ['sizes with zeros', `${'0'.repeat(30)}5\r\nhello\r\n000\r\n\r\n`, 'hello'],
    ['an extension', '5;a=b\r\nhello\r\n0;c\r\n\r\n', 'hello'],
    ['extensions', '5;a;b=;c="x;y\\" 0\x80"\r\nhello\r\n0\r\n\r\n', 'hello'],
    ['trailers', '5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-Sum:\t2 \r\nx:\r\n\r\n', 'hello'],
    ['line ends inside', '6\r\n\r\n0\r\n\r\r\n0\r\n\r\n', '\r\n0\r\n\r'],
    ['another answer inside', `4\r\n0\r\n\r\r\n0\r\n\r\n`, '0\r\n\r'],
    ['any byte', '4\r\n\0\xff\x80\n\r\n0\r\n\r\n', '\0\xff\x80\n'],
  ])('%s', async (_what, body, expected) => {
    const reading = readInAllWays(body);
    expect(reading.isWhole).toBe(true);
    if (expected !== null) expect(reading.body).toBe(expected);
    expect(await node.read([CHUNKED + body])).toEqual(reading);
  });
});

describe('chunks that are broken are broken', () => {
  test.each([
    ...['0x5', '5 5', '-1', '+5', ' 5', '5 ', '5\t', 'g', '', '5.', '5,5', '5\0', '5;a b'],
    ...['5;', '5 ;a', '5; a', '5;a =b', '5;a="b', '5;a\0', '5;a\x7f', '5\r'],
    ...['f'.repeat(16), `1${'0'.repeat(16)}`, `5;a=${'b'.repeat(20_000)}`],
  ])('a size of %j', async (size) => {
    const body = `${size}\r\nhello\r\n0\r\n\r\n`;
    expect(readByLane([CHUNKED, body])).toMatchObject({ isWhole: false });
    expect(readByLane([CHUNKED, body])?.body).not.toContain('llo\r');
    expect((await node.read([CHUNKED + body]))?.isWhole ?? false).toBe(false);
  });

  test.each([
    ['no CRLF behind a chunk', '5\r\nhello0\r\n\r\n'],
    ['more than was announced', '5\r\nhello!\r\n0\r\n\r\n'],
    ['less than was announced', '6\r\nhello\r\n0\r\n\r\n'],
    ['LF behind a size', '5\nhello\r\n0\r\n\r\n'],
    ['LF behind a chunk', '5\r\nhello\n0\r\n\r\n'],
    ['LF at the end', '5\r\nhello\r\n0\r\n\n'],
    ['CR behind a chunk', '5\r\nhello\r0\r\n\r\n'],
    ['an empty line before a size', '\r\n5\r\nhello\r\n0\r\n\r\n'],
    ['a blank before the colon of a trailer', '5\r\nhello\r\n0\r\nX : 1\r\n\r\n'],
    ['a folded trailer', '5\r\nhello\r\n0\r\nX: 1\r\n 2\r\n\r\n'],
    ['a trailer without name', '5\r\nhello\r\n0\r\n: 1\r\n\r\n'],
    ['a trailer without colon', '5\r\nhello\r\n0\r\nX\r\n\r\n'],
    ['a NUL in a trailer', '5\r\nhello\r\n0\r\nX: \0\r\n\r\n'],
    ['a length in the trailers', '5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n'],
    ['another answer in the trailers', '5\r\nhello\r\n0\r\nHTTP/1.1 200 OK\r\n\r\n'],
    ['too many trailers', `0\r\n${'X: 1\r\n'.repeat(9_000)}\r\n`],
    ['no end', '5\r\nhello\r\n0\r\n'],
    ['no last chunk', '5\r\nhello\r\n'],
  ])('%s', async (_what, body) => {
    const reading = body.length > 1_000 ? readByLane([CHUNKED, body]) : readInAllWays(body);
    expect(reading?.isWhole).toBe(false);
    expect((await node.read([CHUNKED + body]))?.isWhole ?? false).toBe(false);
  });

  test('a coding in the trailers', () => {
    const body = '5\r\nhello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(readInAllWays(body).isWhole).toBe(false);
  });
});

test('what stands behind the end is told, and not handed on', () => {
  for (const head of [CHUNKED, 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n']) {
    const body = head === CHUNKED ? '5\r\nhello\r\n0\r\n\r\n' : 'hello';
    const rest = 'HTTP/1.1 200 OK\r\n\r\nevil';
    expect(readByLane([head, body + rest])).toEqual(readByLane([head, body]));
    expect(readByLane([head + body + rest])?.body).toBe('hello');
  }
});

describe('whatever comes', () => {
  const anyData = fc.string({
    minLength: 1,
    maxLength: 20,
    unit: fc.constantFrom(...'a0\r\n;:\xff'),
  });
  const anyExtension = fc.constantFrom('', '', ';a', ';a=b', ';a="b c"', ';a=;b', ';', ' ', ';a b');
  const anyChunk = fc
    .tuple(anyData, anyExtension, fc.nat({ max: 2 }), fc.boolean())
    .map(([data, extension, zeros, isUpper]) => {
      const size = '0'.repeat(zeros) + data.length.toString(16);
      return `${isUpper ? size.toUpperCase() : size}${extension}\r\n${data}\r\n`;
    });
  const anyTrailer = fc.constantFrom(
    'X: 1\r\n',
    'y:\t2 \r\n',
    'Z:\r\n',
    'X : 1\r\n',
    'X: a\xe4\r\n',
  );
  const anyBody = fc
    .tuple(fc.array(anyChunk, { maxLength: 6 }), fc.array(anyTrailer, { maxLength: 2 }))
    .map(([chunks, trailers]) => `${chunks.join('')}0\r\n${trailers.join('')}\r\n`);
  const anyChange = fc.record({
    at: fc.nat({ max: 120 }),
    drop: fc.nat({ max: 2 }),
    put: fc.constantFrom('', '', '0', '1', ' ', '\r', '\n', '\r\n', '\0', ':', ';', 'x', '\xff'),
  });
  const anyCuts = fc.array(fc.nat({ max: 160 }), { maxLength: 6 });

  test('what is whole is the same for Node', async () => {
    let whole = 0;
    await fc.assert(
      fc.asyncProperty(anyBody, fc.option(anyChange), anyCuts, async (plain, change, cuts) => {
        const bytes = change === null ? plain : changeText(plain, change);
        const pieces = cutText(bytes, cuts);
        const reading = readByLane([CHUNKED, ...pieces]);
        if (reading?.isWhole !== true) return;
        whole += 1;
        expect(await node.read([CHUNKED, ...pieces])).toEqual(reading);
      }),
      { numRuns: 3_000 },
    );
    expect(whole).toBeGreaterThan(300);
  });

  test('any chunks in any pieces are what was put into them', () => {
    const anyGoodChunk = anyChunk.filter((chunk) => /^[0-9a-f]+(?:;a[^; ]*)?\r\n/i.test(chunk));
    fc.assert(
      fc.property(fc.array(anyGoodChunk, { maxLength: 20 }), anyCuts, (chunks, cuts) => {
        const bytes = `${chunks.join('')}0\r\n\r\n`;
        const data = chunks.map((chunk) => chunk.slice(chunk.indexOf('\r\n') + 2, -2));
        const reading = readByLane([CHUNKED, ...cutText(bytes, cuts)]);
        expect(reading).toMatchObject({ isWhole: true, body: data.join('') });
      }),
      { numRuns: 2_000 },
    );
  });
});
