// The lane's own reading of an origin's answer, held against Node's client: what it takes, Node
// reads in the same way, head, framing and body; what Node would refuse, it does not take.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readAnswerHead } from '../../src/server/lane/read-answer.ts';
import { changeText, cutText, readByLane, useNodeReader } from './answer-readers.ts';

const node = useNodeReader();

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKS = '3\r\nabc\r\n0\r\n\r\n';
const withFields = (...fields: readonly string[]): string =>
  `${OK}${fields.map((field) => `${field}\r\n`).join('')}\r\n`;

describe('is taken as Node takes it', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['a length', `${withFields('Content-Length: 3')}abc`],
    ['a length of nothing', withFields('Content-Length: 0')],
    ['a length with zeros', `${withFields('Content-Length: 0003')}abc`],
    ['a length without a blank', `${withFields('Content-Length:3')}abc`],
    ['a length in blanks', `${withFields('cOntent-lEngth: \t3 ')}abc`],
    ['a value in blanks', `${withFields('X: \t a \t', 'Content-Length: 3')}abc`],
    ['a length that is not reached', `${withFields('Content-Length: 4')}abc`],
    ['bytes behind a length', `${withFields('Content-Length: 3')}abcdef`],
    ['chunks', `${withFields('Transfer-Encoding: chunked')}${CHUNKS}`],
    ['chunks in capitals', `${withFields('TRANSFER-ENCODING: Chunked ')}${CHUNKS}`],
    ['chunks without an end', `${withFields('Transfer-Encoding: chunked')}3\r\nabc\r\n`],
    ['bytes behind chunks', `${withFields('Transfer-Encoding: chunked')}${CHUNKS}${OK}\r\n`],
    ['until the end', `${withFields('X: 1')}abc`],
    ['no fields', `${OK}\r\nabc`],
    ['no reason', 'HTTP/1.1 200\r\nContent-Length: 3\r\n\r\nabc'],
    ['a reason of nothing', 'HTTP/1.1 200 \r\nContent-Length: 3\r\n\r\nabc'],
    ['a reason of blanks', 'HTTP/1.1 200   \t A  B \r\nContent-Length: 3\r\n\r\nabc'],
    ['a reason in latin1', 'HTTP/1.1 299 \xe4\xa0\r\nContent-Length: 3\r\n\r\nabc'],
    ['any status of four classes', 'HTTP/1.1 599 X\r\nContent-Length: 3\r\n\r\nabc'],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['204 with a length', 'HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc'],
    ['304', 'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n'],
    ['304 with the length of what it is not', 'HTTP/1.1 304 X\r\nContent-Length: 3\r\n\r\n'],
    ['206', 'HTTP/1.1 206 Part\r\nContent-Length: 3\r\nContent-Range: bytes 0-2/9\r\n\r\nabc'],
    ['repeats', `${withFields('Set-Cookie: a=1', 'set-cookie: b=2', 'Content-Length: 3')}abc`],
    ['values of nothing', `${withFields('X:', 'Y: \t', 'Content-Length: 3')}abc`],
    ['other blanks', `${withFields('X: \xa0a\xa0', 'Content-Length: 3')}abc`],
    ['colons in values', `${withFields('X: a:b', 'Y::', 'Content-Length: 3')}abc`],
    ['odd names', `${withFields("!#$%&'*+-.^_`|~9: 1", 'Content-Length: 3')}abc`],
    ['an offer to switch', `${withFields('Connection: upgrade', 'Upgrade: x')}abc`],
    ['a close', `${withFields('Connection: close', 'Content-Length: 3')}abc`],
    ['names as long as ours', `${withFields('Content-Lengtt: 9', 'Content-Length: 3')}abc`],
    ['very many fields', `${withFields(...manyFields(1_200), 'Content-Length: 3')}abc`],
  ];
  test.each(rows)('%s', async (_what, bytes) => {
    const taken = readByLane([bytes]);
    expect(taken).not.toBeNull();
    expect(await node.read([bytes])).toEqual(taken);
  });

  test.each([
    [withFields('Connection: keep-alive', 'Content-Length: 0'), true],
    [withFields('Connection: x-close, y', 'Content-Length: 0'), true],
    [withFields('Connection: CLOSE', 'Content-Length: 0'), false],
    [withFields('Connection: a', 'connection: b ,\tClose', 'Content-Length: 0'), false],
    [withFields('Transfer-Encoding: chunked'), true],
    [withFields('X: until the end'), false],
    ['HTTP/1.1 204 X\r\n\r\n', true],
  ])('%j can be used again: %s', (head, expected) => {
    expect(readAnswerHead(head)?.keepsAlive).toBe(expected);
  });
});

function manyFields(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `X-${index}: ${index % 10}`);
}

describe('is left', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['two lengths', withFields('Content-Length: 3', 'Content-Length: 4')],
    ['the same length twice', withFields('Content-Length: 3', 'content-length: 3')],
    ['a list of lengths', withFields('Content-Length: 3, 3')],
    ...[
      '+3',
      '-3',
      '0x3',
      '3 3',
      '3;',
      '',
      'three',
      '3.0',
      '3e0',
      '\xa03',
      '3\t',
      '9'.repeat(16),
    ].map((length) => [`a length of ${JSON.stringify(length)}`, lengthOf(length)] as const),
    ['a length beside chunks', withFields('Content-Length: 3', 'Transfer-Encoding: chunked')],
    ['chunks beside a length', withFields('Transfer-Encoding: chunked', 'Content-Length: 3')],
    ['chunks twice', withFields('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')],
    ...['chunked, chunked', 'gzip, chunked', 'chunked, gzip', 'identity', '', 'xchunked']
      .concat('chunked;q=1', 'chun\tked', 'chunked\t', '"chunked"', '\xa0chunked')
      .map((coding) => [`the coding ${JSON.stringify(coding)}`, codingOf(coding)] as const),
    ['204 in chunks', 'HTTP/1.1 204 X\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['304 in chunks', 'HTTP/1.1 304 X\r\nTransfer-Encoding: chunked\r\n\r\n'],
    ['205', 'HTTP/1.1 205 X\r\nContent-Length: 0\r\n\r\n'],
    ...['099', '100', '101', '103', '199', '600', '999', '20', '2000', '2x0', '-20', ' 200', '٢٠٠']
      .concat('')
      .map((status) => [`status ${status}`, `HTTP/1.1 ${status} X\r\n\r\n`] as const),
    ...[
      'HTTP/1.0',
      'HTTP/1.2',
      'HTTP/2.0',
      'http/1.1',
      'ICY',
      'HTTP/1.1 ',
      ' HTTP/1.1',
      'HTTP/01.1',
    ]
      .concat('')
      .map((version) => [`version ${version}`, `${version} 200 OK\r\n\r\n`] as const),
    ['a tab for a space', 'HTTP/1.1\t200 OK\r\n\r\n'],
    ['a tab behind the status', 'HTTP/1.1 200\tOK\r\n\r\n'],
    ['a NUL in the reason', 'HTTP/1.1 200 O\0K\r\n\r\n'],
    ['an empty line before it', `\r\n${OK}\r\n`],
    ['something before it', `x${OK}\r\n`],
    ['bare LFs', withFields('X: 1').replaceAll('\r\n', '\n')],
    ['a bare LF behind the first line', withFields('X: 1').replace('OK\r\n', 'OK\n')],
    ['a bare LF behind a field', withFields('X: 1', 'Y: 2').replace('1\r\n', '1\n')],
    ['a bare LF that hides a length', withFields('X: 1\nContent-Length: 3')],
    ['a bare CR that hides a length', withFields('X: 1\rContent-Length: 3')],
    ['a CR before a CRLF', withFields('X: 1\r')],
    ['a NUL in a value', withFields('X: a\0b')],
    ['a control in a value', withFields('X: a\x07b')],
    ['DEL in a value', withFields('X: a\x7fb')],
    ['a folded line', withFields('X: a', ' b')],
    ['a folded coding', withFields('Transfer-Encoding:', ' chunked')],
    ['a folded length', withFields('Content-Length: 3', '\t4')],
    ['a folded first line', withFields(' X: a')],
    ['a blank before the colon', withFields('Transfer-Encoding : chunked')],
    ['a tab before the colon', withFields('Content-Length\t: 3')],
    ['a blank before the name', withFields('X: 1', ' Content-Length: 3')],
    ['a blank in a name', withFields('X Y: a')],
    ['latin1 in a name', withFields('X\xe4: a')],
    ['a NUL in a name', withFields('Content-Length\0: 3')],
    ['no name', withFields(': a')],
    ['no colon', withFields('X')],
    ['no end', `${OK}X: 1\r\n`],
    ['nothing', ''],
  ];
  test.each(rows)('%s', (_what, head) => {
    expect(readAnswerHead(head)).toBeNull();
  });
});

function lengthOf(length: string): string {
  return withFields(`Content-Length: ${length}`);
}

function codingOf(coding: string): string {
  return withFields(`Transfer-Encoding: ${coding}`);
}

describe('whatever comes', () => {
  const anyStatus = fc.constantFrom('200', '204', '206', '304', '302', '404', '503', '299', '100');
  const anyReason = fc.constantFrom(' OK', '', ' ', '  Not  Found', ' \xe4', '\tOK');
  const anyName = fc.constantFrom(
    ...['Content-Length', 'content-length', 'Transfer-Encoding', 'Connection', 'X-A', 'Set-Cookie'],
    ...['X_B', 'Trailer', 'Upgrade', 'Proxy-Connection', 'Keep-Alive', 'Content-Length ', ''],
  );
  const anyValue = fc.oneof(
    fc.constantFrom('0', '3', '03', ' 3', '3 ', '+3', '3,3', 'chunked', 'Chunked', 'gzip, chunked'),
    fc.constantFrom('close', 'keep-alive', 'upgrade', '', '\t', '\xa0', 'a b', 'x'),
    fc.string({ maxLength: 8, unit: 'binary-ascii' }),
  );
  const anyBlank = fc.constantFrom('', ' ', '  ', '\t', ' \t ');
  const anyField = fc
    .tuple(anyName, anyBlank, anyValue, anyBlank)
    .map(([name, before, value, behind]) => `${name}:${before}${value}${behind}\r\n`);
  const anyBody = fc.constantFrom(
    '',
    'abc',
    CHUNKS,
    'abcdef',
    `${CHUNKS}x`,
    '0\r\n\r\n',
    `abc${OK}`,
  );
  const anyAnswer = fc
    .tuple(anyStatus, anyReason, fc.array(anyField, { maxLength: 4 }), anyBody)
    .map(([status, reason, fields, body]) => {
      return `HTTP/1.1 ${status}${reason}\r\n${fields.join('')}\r\n${body}`;
    });
  /** One place of the head is another. */
  const anyChange = fc.record({
    at: fc.nat({ max: 120 }),
    drop: fc.nat({ max: 2 }),
    put: fc.constantFrom('', '', ' ', '\r', '\n', '\r\n', '\0', ':', 'x', ',', '\t', '\xff'),
  });
  const anyCuts = fc.array(fc.nat({ max: 160 }), { maxLength: 4 });

  test('what the lane takes, Node reads in the same way', async () => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(anyAnswer, fc.option(anyChange), anyCuts, async (plain, change, cuts) => {
        const bytes = change === null ? plain : changeText(plain, change);
        const pieces = cutText(bytes, cuts);
        const reading = readByLane(pieces);
        if (reading === null) return;
        taken += 1;
        const read = await node.read(pieces);
        // Of what breaks, Node may have kept back the last part.
        if (reading.isWhole || read === null) expect(read).toEqual(reading);
        else expect({ ...read, body: '' }).toEqual({ ...reading, body: '' });
      }),
      { numRuns: 3_000 },
    );
    expect(taken).toBeGreaterThan(300);
  });
});
