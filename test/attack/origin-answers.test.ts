// Group R of the attack cases: hostile or broken answers of an origin. An unusable answer is 502, a
// late one 504, and one that breaks while it streams breaks for the client too.
import { describe, expect, it } from 'vitest';
import { countWays, startBypassGateway } from '../helpers/bypass-gateway.ts';
import { hasAnswers, type RawReply, sendRaw, splitAnswers } from '../helpers/raw-client.ts';
import { OK_ANSWER, startRawOrigin } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { get } from './attack-rows.ts';

interface AnswerRow {
  readonly id: string;
  /** What the origin sends; it then closes when `closes`. */
  readonly bytes: string;
  readonly closes?: boolean;
  readonly status: number;
  /** RFC 9209 error type; only for the gateway's own answers. */
  readonly error?: string;
  readonly check?: (reply: RawReply) => void;
}

const ok = (lines: string, body = ''): string => `HTTP/1.1 200 OK\r\n${lines}\r\n\r\n${body}`;
const invalid = (id: string, bytes: string): AnswerRow => ({
  id,
  bytes,
  status: 502,
  error: 'http_protocol_error',
});
const headOf = ({ text }: RawReply): string => text.slice(0, text.indexOf('\r\n\r\n'));

const CHUNKED = 'Transfer-Encoding: chunked';

const ROWS: readonly AnswerRow[] = [
  invalid('R05', ok(`Content-Length: 3\r\n${CHUNKED}`, '0\r\n\r\n')),
  invalid('R06', ok('Content-Length: 2\r\nContent-Length: 3', 'ok!')),
  invalid('R08', ok('Content-Length: 2\r\nNoColonHere', 'ok')),
  invalid('R09', ok('X-A : 1\r\nContent-Length: 2', 'ok')),
  invalid('R10', ok('X-A: 1\r\n folded\r\nContent-Length: 2', 'ok')),
  invalid('R12', ok('X-A: a\x00b\r\nContent-Length: 2', 'ok')),
  { id: 'R13', bytes: 'HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nok', status: 999 },
  invalid('R14', 'HTTP/1.1 099 Low\r\nContent-Length: 2\r\n\r\nok'),
  {
    id: 'R16',
    bytes: 'HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok',
    status: 204,
    check: (reply) => {
      expect(headOf(reply)).not.toMatch(/content-length|transfer-encoding/i);
      expect(reply.text.endsWith('\r\n\r\n')).toBe(true);
    },
  },
  ...['Content-Length: 3\r\n\r\nabc', `${CHUNKED}\r\n\r\n3\r\nabc\r\n0\r\n\r\n`].map((rest) => ({
    id: `205 with a body, ${rest.slice(0, 8)}`,
    bytes: `HTTP/1.1 205 Reset Content\r\n${rest}`,
    status: 205,
    check: (reply: RawReply) => {
      expect(headOf(reply).match(/content-length|transfer-encoding/gi)).toHaveLength(1);
      expect(reply.text).toMatch(/\r\nContent-Length: 0\r\n[^]*\r\n\r\n$/);
    },
  })),
  {
    ...invalid(
      'an interim status nobody knows',
      'HTTP/1.1 199 Odd\r\nContent-Length: 3\r\n\r\nabc',
    ),
    check: ({ text }) => expect(text).toMatch(/^HTTP\/1\.1 502 /),
  },
  {
    id: 'an interim answer with framing',
    bytes: `HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n${CHUNKED}\r\nLink: <a>\r\n\r\n${OK_ANSWER}`,
    status: 502,
    error: 'http_protocol_error',
  },
  {
    id: 'an interim answer with a length',
    bytes: `HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\nLink: <a>\r\n\r\n${OK_ANSWER}`,
    status: 200,
    check: ({ text }) => expect(text).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nLink: <a>\r\n\r\n/),
  },
  invalid('R17', 'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n'),
  {
    id: 'R18',
    bytes: `HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n${OK_ANSWER}`,
    status: 200,
    check: ({ text }) =>
      expect(text).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a\.css>; rel=preload\r\n\r\n/),
  },
  {
    id: 'R20',
    bytes: ok(
      'Connection: X-Hop, keep-alive\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nProxy-Connection: x\r\nContent-Length: 2',
      'ok',
    ),
    status: 200,
    check: (reply) => expect(headOf(reply)).not.toMatch(/x-hop|timeout=5|proxy-connection/i),
  },
  {
    id: 'R21',
    bytes: ok(
      'Set-Cookie: a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT\r\nX: 1\r\nSet-Cookie: b=2\r\nContent-Length: 2',
      'ok',
    ),
    status: 200,
    check: (reply) =>
      expect([...reply.text.matchAll(/^Set-Cookie: (.*)\r$/gm)].map(([, value]) => value)).toEqual([
        'a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT',
        'b=2',
      ]),
  },
  {
    id: 'R22',
    bytes: ok('Content-Type: text/html\r\nContent-Type: text/plain\r\nContent-Length: 2', 'ok'),
    status: 200,
    check: (reply) => {
      expect(headOf(reply)).toContain('text/html');
      expect(headOf(reply)).not.toContain('text/plain');
    },
  },
  {
    id: 'R24',
    bytes: ok(`X: ${'a'.repeat(20_000)}\r\nContent-Length: 2`, 'ok'),
    status: 502,
    error: 'http_response_header_section_size',
  },
  {
    id: 'R25',
    bytes: ok(`X: ${'a'.repeat(100_000)}\r\nContent-Length: 2`, 'ok'),
    status: 502,
    error: 'http_response_header_section_size',
  },
  {
    id: 'R26',
    bytes: ok(
      `${CHUNKED}\r\nTrailer: X-Sum`,
      '2\r\nok\r\n0\r\nX-Sum: 7\r\nContent-Length: 9\r\n\r\n',
    ),
    status: 502,
    error: 'http_protocol_error',
  },
  {
    id: 'R26, harmless trailers',
    bytes: ok(
      `${CHUNKED}\r\nTrailer: X-Sum`,
      '2\r\nok\r\n0\r\nX-Sum: 7\r\nSet-Cookie: a=1\r\n\r\n',
    ),
    status: 200,
    check: ({ text }) => {
      expect(text).toContain('\r\nTrailer: X-Sum\r\n');
      expect(text).toMatch(/\r\n0\r\nX-Sum: 7\r\n\r\n$/);
    },
  },
  { id: 'R28', bytes: '', closes: true, status: 502, error: 'connection_terminated' },
  invalid('R29', ok('Transfer-Encoding: gzip, chunked', '0\r\n\r\n')),
  invalid('R30', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n'),
  invalid('R33', ok(CHUNKED, '0x2\r\nok\r\n0\r\n\r\n')),
  {
    id: 'R34',
    bytes: 'HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 2\r\n\r\nno',
    status: 503,
  },
  {
    id: 'R35',
    bytes: ok('__proto__: x\r\nConstructor: y\r\nContent-Length: 2', 'ok'),
    status: 200,
    check: (reply) => {
      expect(headOf(reply)).toContain('\r\n__proto__: x\r\n');
      expect(headOf(reply)).toContain('\r\nConstructor: y\r\n');
    },
  },
  { id: 'R39', bytes: '', status: 504, error: 'http_response_timeout' },
];

describe('answers of a broken origin', () => {
  it.each(ROWS)('$id', async (row) => {
    const origin = await startRawOrigin({
      answer: (_request, socket) => {
        if (row.closes !== true) return row.bytes;
        socket.end(row.bytes, 'latin1');
        return null;
      },
    });
    const gateway = await startBypassGateway({
      originUrl: origin.url,
      target: { timeoutMs: row.status === 504 ? 300 : 5_000 },
    });
    const reply = await sendRaw(gateway.port, get(), { until: hasAnswers(1) });
    expect(splitAnswers(reply.text)[0]?.status).toBe(row.status);
    expect(origin.requests.length, 'one attempt each way').toBeLessThanOrEqual(countWays());
    const proxyStatus = /\r\nProxy-Status: edge-gateway; error=(\S+)\r\n/.exec(reply.text)?.[1];
    expect(proxyStatus).toBe(row.error);
    expect(gateway.outcomes[0]).toMatchObject({ status: row.status, error: row.error ?? null });
    if (row.error !== undefined) {
      expect(reply.text).not.toContain(String(origin.port));
      expect(reply.text).toMatch(/\nrequest id: \S+\n$/);
    }
    row.check?.(reply);
    await gateway.close();
    await origin.close();
  });
});

describe('answers that break while they stream', () => {
  const CUT: readonly { id: string; bytes: string; start: string }[] = [
    { id: 'R01', bytes: ok('Content-Length: 10', 'ok'), start: 'ok' },
    { id: 'R02', bytes: ok(CHUNKED, '2\r\nok\r\n9\r\nabc'), start: '2\r\nok\r\n' },
    { id: 'R02, no last chunk', bytes: ok(CHUNKED, '2\r\nok\r\n'), start: '2\r\nok\r\n' },
  ];

  it.each(CUT)('$id', async ({ bytes, start }) => {
    const origin = await startRawOrigin({
      answer: (_request, socket) => {
        socket.write(bytes);
        setImmediate(() => socket.end());
        return null;
      },
    });
    const gateway = await startBypassGateway({ originUrl: origin.url });
    const reply = await sendRaw(gateway.port, get());
    expect(reply.end).not.toBe('open');
    if (reply.text.startsWith('HTTP/1.1 200')) {
      expect(reply.text).toContain(`\r\n\r\n${start}`);
      expect(splitAnswers(reply.text), 'no clean end').toEqual([]);
    } else expect(reply.text).toMatch(/^HTTP\/1\.1 502 /);
    await gateway.close();
    await origin.close();
  });

  it('a cut answer to HTTP/1.0, where a close means the end, is a reset', async () => {
    const origin = await startRawOrigin({
      answer: (_request, socket) => {
        socket.write(ok(CHUNKED, '2\r\nok\r\n'));
        return null;
      },
    });
    const gateway = await startBypassGateway({ originUrl: origin.url });
    let isCut = false;
    const reply = await sendRaw(gateway.port, 'GET /g HTTP/1.0\r\nHost: good.example\r\n\r\n', {
      until: (text) => {
        if (text.endsWith('ok') && !isCut) {
          isCut = true;
          void origin.close();
        }
        return false;
      },
    });
    expect(reply.text).toMatch(/\r\n\r\nok$/);
    expect(reply.end).toBe('reset');
    await gateway.close();
  });

  it('R04: without a length the close of the origin is the end', async () => {
    const origin = await startRawOrigin({
      answer: (_request, socket) => {
        socket.end(ok('Connection: close', 'the whole body'));
        return null;
      },
    });
    const gateway = await startBypassGateway({ originUrl: origin.url });
    const reply = await sendRaw(gateway.port, get(), { until: hasAnswers(1) });
    expect(splitAnswers(reply.text)[0]?.body).toContain('the whole body');
    await gateway.close();
    await origin.close();
  });
});

describe('origins that cannot be reached', () => {
  const UNREACHABLE: readonly { what: string; originUrl: string; error: string; status: number }[] =
    [
      {
        what: 'refused',
        originUrl: 'http://127.0.0.1:1',
        error: 'connection_refused',
        status: 502,
      },
      {
        what: 'no such name',
        originUrl: 'http://nowhere.invalid',
        error: 'dns_error',
        status: 502,
      },
    ];

  it.each(UNREACHABLE)('$what', async ({ originUrl, error, status }) => {
    const gateway = await startBypassGateway({ originUrl });
    const reply = await sendRaw(gateway.port, get(), { until: hasAnswers(1) });
    expect(reply.text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(reply.text).toContain(`Proxy-Status: edge-gateway; error=${error}\r\n`);
    expect(reply.text).not.toMatch(/127\.0\.0\.1|nowhere|ECONN|at .*\.ts/);
    expect(gateway.outcomes[0]).toMatchObject({ status, error });
    await gateway.close();
  });

  it('200 at once do not disturb the process', async () => {
    const gateway = await startBypassGateway({ originUrl: 'http://127.0.0.1:1' });
    const replies = await Promise.all(
      Array.from({ length: 200 }, () => sendRaw(gateway.port, get(), { until: hasAnswers(1) })),
    );
    for (const { text } of replies) expect(text).toMatch(/^HTTP\/1\.1 502 /);
    await waitUntil('all outcomes', () => gateway.outcomes.length === 200);
    await gateway.close();
  });
});
