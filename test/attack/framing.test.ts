// Group A of the attack cases: framing, smuggling, hop-by-hop fields, versions and methods.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { valuesOf } from '../helpers/raw-origin.ts';
import { type AttackRow, accepted, get, post, refused, testAttackRows } from './attack-rows.ts';

const CHUNKED = 'Transfer-Encoding: chunked';
const NO_BODY = '0\r\n\r\n';
const SMUGGLED = 'GET /smug HTTP/1.1\r\nHost: good.example\r\n\r\n';

const hasNo =
  (...names: readonly string[]): AttackRow['check'] =>
  ([request]) => {
    for (const name of names) deepEqual(valuesOf(request, name), [], name);
  };

const FRAMING: readonly AttackRow[] = [
  refused('A01', post(`Content-Length: 6\r\n${CHUNKED}`, `${NO_BODY}X`)),
  refused('A02', post(`Content-Length: 4\r\n${CHUNKED}`, '1\r\nZ\r\nQ')),
  refused('A03', post(`Content-Length: 47\r\n${CHUNKED}`, NO_BODY + SMUGGLED)),
  refused('A05', post(`${CHUNKED}\r\n${CHUNKED}`, NO_BODY)),
  refused('A06', post('Transfer-Encoding: xchunked\r\nContent-Length: 5', NO_BODY), 400, 501),
  refused('A07', post('Transfer-Encoding: chunked, identity\r\nContent-Length: 5', NO_BODY)),
  refused('A08', post('Transfer-Encoding: identity, chunked', NO_BODY), 501),
  refused('A09', post('Transfer-Encoding: gzip, chunked', NO_BODY), 501),
  refused('A10', post('Transfer-Encoding: ,chunked\r\nContent-Length: 5', NO_BODY), 400, 501),
  refused('A11', post('Transfer-Encoding: "chunked"\r\nContent-Length: 5', NO_BODY), 400, 501),
  refused('A13', post('Content-Length : 5', 'hello')),
  refused('A14', post('Transfer-Encoding:\x0bchunked\r\nContent-Length: 5', NO_BODY), 400, 501),
  refused('A15', post('Transfer-Encoding: \xa0chunked\r\nContent-Length: 5', NO_BODY), 400, 501),
  refused(
    'A17',
    `POST /p HTTP/1.1\r\n ${CHUNKED}\r\nHost: good.example\r\nContent-Length: 5\r\n\r\n${NO_BODY}`,
  ),
  refused('A18', post(`Foo: bar\r\n ${CHUNKED}\r\nContent-Length: 5`, NO_BODY)),
  refused('A19', post(`Foo: bar\n${CHUNKED}\r\nContent-Length: 5`, NO_BODY)),
  refused('A21', 'GET /g HTTP/1.1\nHost: good.example\n\n'),
  refused('A22', post('Content-Length: 5\r\nContent-Length: 6', 'hello!')),
  refused('A23', post('Content-Length: 5\r\nContent-Length: 5', 'hello')),
  refused('A25', post('Content-Length: +5', 'hello')),
  refused('A26', post('Content-Length: -1', 'hello')),
  refused('A27', post('Content-Length: 0x5', 'hello')),
  refused('A29', post('Content-Length: ', '')),
  refused('A30', post('Content-Length: 18446744073709551621', 'hello')),
  accepted('A31', post('Content-Length: 0005', 'hello'), ([request]) => {
    deepEqual(valuesOf(request, 'content-length'), ['5']);
    equal(request?.body, 'hello');
  }),
  refused('A33', post(CHUNKED, `0x5\r\nhello\r\n${NO_BODY}`)),
  refused('A34', post(CHUNKED, `FFFFFFFFFFFFFFFFF\r\nhello\r\n${NO_BODY}`)),
  refused('A35', post(CHUNKED, `-1\r\nhello\r\n${NO_BODY}`)),
  refused('A37', post(CHUNKED, `   5\r\nhello\r\n${NO_BODY}`)),
  refused('A38', post(CHUNKED, `5;${'a'.repeat(20_000)}\r\nhello\r\n${NO_BODY}`), 400, 413),
  refused('A39', post(CHUNKED, '5\nhello\n0\n\n')),
  refused('A41', post(CHUNKED, `3\r\nhello\r\n${NO_BODY}`)),
  refused('A42', post(CHUNKED, NO_BODY, '1.0')),
  refused('A43', post(`Connection: keep-alive\r\nContent-Length: 5\r\n${CHUNKED}`, NO_BODY, '1.0')),
  accepted(
    'A45',
    `${get('/g', CHUNKED)}5\r\nhello\r\n${NO_BODY}`,
    hasNo('transfer-encoding', 'content-length'),
  ),
  accepted(
    'A46',
    get('/g', 'Content-Length: 42') + SMUGGLED,
    hasNo('transfer-encoding', 'content-length'),
  ),
  accepted('A47', post('Transfer_Encoding: chunked\r\nContent-Length: 5', NO_BODY), ([request]) => {
    deepEqual(valuesOf(request, 'transfer_encoding'), []);
    equal(request?.body, NO_BODY);
  }),
  refused('A49', get('/g', 'X\x00Y: 1')),
  refused('A50', get('/g', 'X-Y: a\x00b')),
  refused('A51', get('/g', 'X-Y: a\x07b')),
  refused('A53', get('/g', 'JustText')),
  refused('A54', get('/g', 'X Y: 1')),
  refused('A55', get('/g', 'X\x85Y: 1')),
];

const HOP_BY_HOP: readonly AttackRow[] = [
  accepted('A57', post('Connection: Content-Length\r\nContent-Length: 5', 'hello'), ([request]) => {
    deepEqual(valuesOf(request, 'content-length'), ['5']);
    equal(request?.body, 'hello');
  }),
  accepted(
    'A58',
    get(
      '/g',
      'Connection: close, X-Forwarded-For, Cookie\r\nCookie: s=1\r\nX-Forwarded-For: 1.2.3.4',
    ),
    ([request]) => {
      deepEqual(valuesOf(request, 'cookie'), []);
      deepEqual(valuesOf(request, 'x-forwarded-for'), ['127.0.0.1']);
    },
  ),
  accepted('A59', get('/g', 'Connection: Host'), ([request]) => {
    deepEqual(valuesOf(request, 'host'), ['good.example']);
  }),
  accepted(
    'A60',
    post('Expect: 100-continue\r\nContent-Length: 5', 'hello'),
    ([request], reply) => {
      match(reply.text, /^HTTP\/1\.1 100 Continue\r\n/);
      deepEqual(valuesOf(request, 'expect'), []);
      equal(request?.body, 'hello');
    },
  ),
  refused('A61', post('Expect: banana\r\nContent-Length: 5', 'hello'), 417),
  accepted('A62', get('/g', 'Expect: 100-continue'), ([request], reply) => {
    ok(!reply.text.includes(' 100 '));
    deepEqual(valuesOf(request, 'expect'), []);
  }),
  refused(
    'A63',
    post(`${CHUNKED}\r\nTrailer: Content-Length`, '5\r\nhello\r\n0\r\nContent-Length: 50\r\n\r\n'),
  ),
  accepted(
    'A65',
    get(
      '/g',
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
    ),
    hasNo('upgrade', 'http2-settings'),
  ),
  accepted(
    'A66',
    get(
      '/g',
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 777\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ),
    (_requests, reply) => match(reply.text, /\r\nConnection: close/i),
  ),
  accepted('A67', get('/g', 'Keep-Alive: timeout=5'), hasNo('keep-alive')),
  accepted('A69', get('/g', 'TE: trailers'), hasNo('te')),
  accepted('A70', get('/g', 'Upgrade: foo'), hasNo('upgrade')),
  {
    id: 'A71',
    bytes: get('/g') + get('/g2'),
    statuses: [200, 200],
    forwarded: 2,
    check: (requests) =>
      deepEqual(
        requests.map(({ target }) => target),
        ['/g', '/g2'],
      ),
  },
  accepted('A72', get('/g', 'Connection: close') + get('/g2'), ([request]) => {
    equal(request?.target, '/g');
  }),
];

const REQUEST_LINE: readonly AttackRow[] = [
  refused('A73', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 505),
  refused('A74', 'GET /g\r\n', 400, 408),
  refused('A75', 'GET /g HTTP/1.2\r\nHost: good.example\r\n\r\n', 505),
  refused('A76', 'GET /g HTTP/2.0\r\nHost: good.example\r\n\r\n', 505),
  refused('A77', 'GET /g HTTP/9.9\r\nHost: good.example\r\n\r\n', 400, 505),
  refused('A78', 'GET  /g  HTTP/1.1\r\nHost: good.example\r\n\r\n'),
  refused('A78, before the version', 'GET /g  HTTP/1.1\r\nHost: good.example\r\n\r\n'),
  refused('A78, pipelined', `${get('/g')}GET  /g HTTP/1.1\r\nHost: good.example\r\n\r\n`),
  refused('A79', 'GET\t/g\tHTTP/1.1\r\nHost: good.example\r\n\r\n'),
  refused('A81', 'get /g HTTP/1.1\r\nHost: good.example\r\n\r\n', 400, 501),
  refused('A82', 'G<ET /g HTTP/1.1\r\nHost: good.example\r\n\r\n'),
  refused('A83', 'BREW /g HTTP/1.1\r\nHost: good.example\r\n\r\n', 405, 501),
  refused('A85', 'CONNECT good.example:80 HTTP/1.1\r\nHost: good.example\r\n\r\n', 405, 501),
  refused('A85, TRACE', 'TRACE /g HTTP/1.1\r\nHost: good.example\r\n\r\n', 405, 501),
  refused('A86', 'PURGE /g HTTP/1.1\r\nHost: good.example\r\n\r\n', 405),
  refused('A87', 'GET /g http/1.1\r\nHost: good.example\r\n\r\n'),
];

testAttackRows('framing', FRAMING);
testAttackRows('hop-by-hop fields', HOP_BY_HOP);
testAttackRows('request line', REQUEST_LINE, { headersTimeoutMs: 500 });
