// The lane's own reading of a request, held against the two readers behind it: what it takes,
// Node's parser and the door read in the same way, byte for byte; what either would refuse, it does
// not take.
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkRequest } from '../../src/server/door/check-request.ts';
import { createHttpServer } from '../../src/server/door/create-http-server.ts';
import { createHeadReader, type PlainHead } from '../../src/server/lane/read-head.ts';
import { hasAnswers, sendRaw, statusesOf } from '../helpers/raw-client.ts';
import { SERVER_LIMITS } from '../helpers/server-limits.ts';

const FIELDS_MAX = 20;
const URL_BYTES_MAX = 200;
const LINE = 'GET /a?b=1 HTTP/1.1\r\n';
const HOST = 'Host: a.test\r\n';

const reader = createHeadReader(FIELDS_MAX);
const read = (head: string): PlainHead | null => reader(Buffer.from(head, 'latin1'));
const withFields = (...fields: readonly string[]): string =>
  `${LINE}${HOST}${fields.map((field) => `${field}\r\n`).join('')}\r\n`;

const CONDITIONAL = { isConditional: true };

describe('is taken', () => {
  const rows: readonly (readonly [string, string, Partial<PlainHead>])[] = [
    ['the least', withFields(), { target: '/a?b=1', host: 'a.test', userAgent: null }],
    ['any spelling of a name', withFields('uSeR-aGeNT: x'), { userAgent: 'x' }],
    ['blanks around a value', withFields('User-Agent:\t x y \t'), { userAgent: 'x y' }],
    ['no blank before a value', withFields('User-Agent:x'), { userAgent: 'x' }],
    ['a value of nothing', withFields('X-Request-ID:'), { requestId: '' }],
    ['a value of blanks', withFields('X-Request-ID: \t '), { requestId: '' }],
    ['latin1', withFields('User-Agent: \xe4\xa0'), { userAgent: '\xe4\xa0' }],
    ['a colon in a value', withFields('User-Agent: a:b'), { userAgent: 'a:b' }],
    ['keep-alive', withFields('Connection: Keep-Alive'), {}],
    ['what nobody knows, twice', withFields('X-Y: 1', 'X-Y: 2', 'Cookie: a=b'), {}],
    ['names that only begin alike', withFields('Hostx: 1', 'Ranges: 2', 'Upgrade-Insecure: 1'), {}],
    [
      'fields as many as may be',
      withFields(
        ...'a'
          .repeat(FIELDS_MAX - 1)
          .split('')
          .map(field),
      ),
      {},
    ],
    ['odd bytes of a target', withFields().replace('/a', '/"<>\\^`{|}~%/'), {}],
    [
      'what a proxy says',
      withFields('X-Forwarded-For: 192.0.2.1', 'X-Request-ID: id', 'Via: 1.1 other'),
      { forwardedFor: '192.0.2.1', requestId: 'id', via: '1.1 other' },
    ],
    ['credentials, and says so', withFields('Authorization: x'), { name: 'a\n\n\na.test\n/a?b=1' }],
    ...[
      'If-Match',
      'If-Range',
      'If-Modified-Since',
      'If-None-Match',
      'If-Unmodified-Since',
      'Range',
    ].map((name) => [`${name}, and says so`, withFields(`${name}: x`), CONDITIONAL] as const),
    ['two conditions', withFields('If-Match: x', 'If-None-Match:'), CONDITIONAL],
  ];
  test.each(rows)('%s', async (_what, head, expected) => {
    expect(read(head)).toMatchObject(expected);
    expect(await readBehind(head)).toEqual(toldBy(read(head)));
  });
});

function field(letter: string, place: number): string {
  return `X-${letter}${place}: ${place}`;
}

describe('is left to the parser', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['another method', withFields().replace('GET', 'HEAD')],
    ['a method in small letters', withFields().replace('GET', 'get')],
    ['another version', withFields().replace('1.1', '1.0')],
    ['a version in small letters', withFields().replace('HTTP', 'http')],
    ['two spaces before the target', withFields().replace('GET ', 'GET  ')],
    ['two spaces behind the target', withFields().replace(' HTTP', '  HTTP')],
    ['a space behind the version', withFields().replace('1.1', '1.1 ')],
    ['a tab', withFields().replace('GET ', 'GET\t')],
    ['no target', withFields().replace('/a?b=1', '')],
    ['an absolute target', withFields().replace('/a', 'http://a.test/a')],
    ['an asterisk', withFields().replace('/a?b=1', '*')],
    ['a fragment', withFields().replace('?', '#')],
    ['a space in the target', withFields().replace('?', ' ')],
    ['a NUL in the target', withFields().replace('?', '\0')],
    ['latin1 in the target', withFields().replace('?', '\xe4')],
    ['an empty line before it', `\r\n${withFields()}`],
    ['a bare LF behind the request line', withFields().replace('1.1\r\n', '1.1\n')],
    ['a bare CR behind the request line', withFields().replace('1.1\r\n', '1.1\r')],
    ['bare LFs', withFields().replaceAll('\r\n', '\n')],
    ['a bare LF behind a field', withFields('X: 1').replace('1\r\n\r\n', '1\n\r\n')],
    ['a bare CR in a value', withFields('X: a\rb')],
    ['a bare LF in a value', withFields('X: a\nb')],
    ['a NUL in a value', withFields('X: a\0b')],
    ['a control in a value', withFields('X: a\x07b')],
    ['DEL in a value', withFields('X: a\x7fb')],
    ['a folded line', withFields('X: a', ' b')],
    ['a folded line of nothing', withFields('X: a', '\t')],
    ['a folded first line', `${LINE} X: a\r\n${HOST}\r\n`],
    ['a space before the colon', withFields('X : a')],
    ['no name', withFields(': a')],
    ['no colon', withFields('X')],
    ['a space in a name', withFields('X Y: a')],
    ['latin1 in a name', withFields('X\xe4: a')],
    ['no host', `${LINE}X: a\r\n\r\n`],
    ['no fields', `${LINE}\r\n`],
    ['no end', `${LINE}${HOST}`],
    ['half of an end', `${LINE}${HOST}\r`],
    ['something behind it', `${withFields()}x`],
    ['a line behind it', `${withFields()}\r\n`],
    ['another one behind it', withFields() + withFields()],
    ['half of another one', `${withFields()}${LINE}`],
    ['one field too many', withFields(...'a'.repeat(FIELDS_MAX).split('').map(field))],
    ['nothing', ''],
    ['a body that ends in LF', 'hello\n'],
    ...['Host: a.test', 'User-Agent: x', 'Accept-Encoding: br', 'Via: 1.1 x', 'X-Request-ID: x']
      .concat('X-Forwarded-For: 192.0.2.1', 'Connection: keep-alive')
      .map((line) => [`${line}, twice`, withFields(line, line.toLowerCase())] as const),
    ...['close', 'upgrade', '', 'keep-alive, x', 'x-y', 'Keep-Alive\xa0'].map(
      (value) => [`Connection: ${value}`, withFields(`Connection: ${value}`)] as const,
    ),
    ...['Content-Length', 'Expect', 'HTTP2-Settings', 'Keep-Alive', 'Proxy-Connection', 'TE']
      .concat('Trailer', 'Transfer-Encoding', 'Upgrade')
      .map((name) => [name, withFields(`${name.toUpperCase()}: 0`)] as const),
  ];
  test.each(rows)('%s', (_what, head) => {
    expect(read(head)).toBeNull();
  });

  test('a head that comes in two pieces, wherever it is cut', () => {
    const head = withFields('User-Agent: x', 'Accept: */*');
    for (let at = 1; at < head.length; at += 1) {
      expect([at, read(head.slice(0, at)), read(head.slice(at))]).toEqual([at, null, null]);
    }
  });
});

/** What the door let through behind Node's parser; null: it was refused. */
interface Told {
  readonly target: string;
  readonly rawHeaders: readonly string[];
}

let server: Server;
let last: Told | null = null;

beforeAll(async () => {
  const limits = { ...SERVER_LIMITS, headerFieldsMax: FIELDS_MAX };
  const options = { limits, urlBytesMax: URL_BYTES_MAX, onRefused: () => {}, onUpgrade: () => {} };
  server = createHttpServer(options, ({ method, url, rawHeaders, httpVersion }, response) => {
    last = { target: `${method} ${url} ${httpVersion}`, rawHeaders };
    response.shouldKeepAlive = false;
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.close();
});

async function readBehind(bytes: string): Promise<Told | null> {
  last = null;
  const { port } = server.address() as AddressInfo;
  const { text } = await sendRaw(port, bytes, { until: hasAnswers(1) });
  return statusesOf(text)[0] === 200 ? last : null;
}

function toldBy(head: PlainHead | null): Told | null {
  return head === null ? null : { target: `GET ${head.target} 1.1`, rawHeaders: head.fields };
}

/** Whether the lane would plan for it: it asks the door's own judgement before. */
function isAdmitted(head: PlainHead): boolean {
  const wire = { method: 'GET', httpVersion: '1.1', rawHeaders: head.fields, isHttp2: false };
  const limits = { headerFieldsMax: FIELDS_MAX, urlBytesMax: URL_BYTES_MAX };
  return checkRequest({ ...wire, target: head.target }, limits).ok;
}

describe('whatever comes', () => {
  const anyName = fc.constantFrom(
    ...[
      'Host',
      'host',
      'User-Agent',
      'Accept-Encoding',
      'Connection',
      'X-A',
      'X_B',
      'Via',
      'Cookie',
    ],
    ...['X-Forwarded-For', 'X-Request-ID', 'Content-Length', 'Range', ':authority', 'X', 'X Y', ''],
  );
  const anyByte = fc.constantFrom(
    ...[
      '\0',
      '\t',
      '\n',
      '\r',
      '\r\n',
      '\r\n ',
      ' ',
      '\x0b',
      '\x7f',
      '\x80',
      '\xa0',
      '\xff',
      ':',
      ',',
    ],
    ...[
      'a',
      'Z',
      '0',
      '%',
      '%00',
      '#',
      '?',
      '/',
      '*',
      '"',
      '[',
      'GET ',
      ' HTTP/1.1',
      'close',
      '\r\n\r\n',
    ],
  );
  const anyText = fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.array(anyByte, { maxLength: 4 }).map((bytes) => bytes.join('')),
    fc.constantFrom('', ' ', 'keep-alive', 'a.test', 'a.test:80', '[::1]:1', 'br, gzip;q=0.5', 'x'),
  );
  const anyField = fc
    .tuple(anyName, fc.constantFrom(':', ': ', ':\t', ' :', ':  '), anyText, anyByte)
    .map(
      ([name, colon, value, end]) => `${name}${colon}${value}${end.length === 2 ? end : '\r\n'}`,
    );
  const anyTarget = fc.oneof(
    fc.constantFrom('/', '/a?b=1', '/%00', '*', 'http://a.test/', '//', `/${'x'.repeat(300)}`),
    anyText.map((text) => `/${text}`),
  );
  const anyHead = fc
    .record({ target: anyTarget, fields: fc.array(anyField, { maxLength: 24 }) })
    .map(({ target, fields }) => `GET ${target} HTTP/1.1\r\n${HOST}${fields.join('')}\r\n`);
  /** A plain head with a few bytes put in, taken out or changed. */
  const anyMutant = fc
    .record({
      fields: fc.array(fc.constantFrom('User-Agent: x', 'X-Y: \tz ', 'Accept-Encoding: br'), {
        maxLength: 3,
      }),
      changes: fc.array(fc.tuple(fc.nat(), fc.nat({ max: 2 }), anyByte), { maxLength: 3 }),
    })
    .map(({ fields, changes }) => {
      let head = withFields(...fields);
      for (const [place, taken, put] of changes) {
        const at = place % (head.length + 1);
        head = head.slice(0, at) + put + head.slice(at + taken);
      }
      return head;
    });

  test('what is taken is read in the same way behind it', async () => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyHead, anyMutant), async (bytes) => {
        const head = read(bytes);
        if (head === null || !isAdmitted(head)) return;
        taken += 1;
        expect(await readBehind(bytes)).toEqual(toldBy(head));
      }),
      { numRuns: 4_000 },
    );
    expect(taken).toBeGreaterThan(200);
  }, 120_000);
});
