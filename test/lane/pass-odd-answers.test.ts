// Answers that the lane can't or won't read: the client gets what the long way makes of them, and
// the lane leaves their origin alone.
import { describe, expect, test } from 'vitest';
import { answer, type Stage, setStage } from '../scenario/stage.ts';
import { countParsed, openClient, slowly, withoutId } from './lane-client.ts';
import { humanGet, readAnswer } from './pass-client.ts';

const ODD = humanGet('/odd');
const EVEN = humanGet('/even');

interface Row {
  readonly what: string;
  readonly bytes: string;
  readonly status: number;
  /** The origin closes behind it. */
  readonly closes?: boolean;
  readonly request?: string;
}

const bodied = (lines: string, start = 'HTTP/1.1 200 OK'): string =>
  `${start}\r\n${lines}\r\n\r\nok`;
const CHUNKED = 'Transfer-Encoding: chunked';

const ROWS: readonly Row[] = [
  {
    what: 'early hints',
    bytes: `HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n${bodied('Content-Length: 2')}`,
    status: 200,
  },
  { what: '100', bytes: `HTTP/1.1 100 X\r\n\r\n${bodied('Content-Length: 2')}`, status: 200 },
  { what: '205', bytes: 'HTTP/1.1 205 X\r\nContent-Length: 0\r\n\r\n', status: 205 },
  { what: 'HTTP/1.0', bytes: bodied('X: 1', 'HTTP/1.0 200 OK'), closes: true, status: 200 },
  { what: 'a 304 nobody asked for', bytes: 'HTTP/1.1 304 X\r\n\r\n', status: 502 },
  {
    what: 'a 304 to a part',
    bytes: 'HTTP/1.1 304 X\r\n\r\n',
    status: 502,
    request: humanGet('/odd', ['Range: bytes=0-1']),
  },
  {
    what: 'a status of no class',
    bytes: bodied('Content-Length: 2', 'HTTP/1.1 999 X'),
    status: 999,
  },
  { what: 'two lengths', bytes: bodied('Content-Length: 2\r\nContent-Length: 2'), status: 502 },
  { what: 'length and chunks', bytes: bodied(`Content-Length: 2\r\n${CHUNKED}`), status: 502 },
  { what: 'codings', bytes: bodied('Transfer-Encoding: gzip, chunked'), status: 502 },
  { what: 'a folded line', bytes: bodied('X: a\r\n b\r\nContent-Length: 2'), status: 502 },
  { what: 'bare line feeds', bytes: 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok', status: 502 },
  {
    what: 'a bare line feed at the end',
    bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\nok',
    status: 502,
  },
  { what: 'a greeting', bytes: '220 mail ESMTP\r\n', status: 502 },
  { what: 'no HTTP', bytes: 'nothing\r\n\r\n', status: 502 },
  {
    what: 'a switch',
    bytes: 'HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    status: 502,
  },
  {
    what: 'a long head',
    bytes: bodied(`X: ${'x'.repeat(17_000)}\r\nContent-Length: 2`),
    status: 502,
  },
  { what: 'a head without end', bytes: `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}`, status: 502 },
  {
    what: 'a broken first chunk',
    bytes: `HTTP/1.1 200 OK\r\n${CHUNKED}\r\n\r\n5 \r\nhello`,
    status: 502,
  },
  {
    what: 'another one behind it',
    bytes: `HTTP/1.1 200 OK\r\n${CHUNKED}\r\n\r\n2\r\nok!0\r\n\r\n`,
    status: 502,
  },
];

const stageFor = ({ bytes, closes }: Row): Promise<Stage> =>
  setStage({
    origin: ({ target }, socket) => {
      if (target !== '/odd') return answer(200, 'even');
      if (closes !== true) return bytes;
      socket.end(bytes, 'latin1');
      return null;
    },
  });

describe('goes the long way', () => {
  test.each(ROWS)('$what', async (row) => {
    const { gateway, origin } = await stageFor(row);
    const request = row.request ?? ODD;
    const parsed = countParsed(gateway.port);
    const first = await openClient(gateway.port);
    const left = withoutId(await first.ask(request));
    expect(parsed()).toBe(1);
    expect(readAnswer(left)?.statusLine).toContain(` ${row.status} `);
    // Asked for twice in the same words; and nobody waits for the lane's own connection.
    expect(origin.heads).toHaveLength(2);
    expect(origin.heads[0]).toBe(origin.heads[1]);

    const second = await openClient(gateway.port);
    const long = withoutId(await second.ask(slowly(request)));
    expect(withoutDate(left)).toBe(withoutDate(long));
    // From now on the whole origin goes the long way.
    const third = await openClient(gateway.port);
    expect(await third.ask(EVEN)).toContain('even');
    expect(parsed()).toBe(3);
    expect(origin.heads).toHaveLength(4);
  });
});

function withoutDate(text: string): string {
  return text.replaceAll(/^Date: .*$/gm, 'Date: now').replaceAll(/request id: .*/g, '');
}

test('other origins are not left alone for it', async () => {
  const odd = await stageFor({ what: '', bytes: 'HTTP/1.1 205 X\r\n\r\n', status: 205 });
  await (await openClient(odd.gateway.port)).ask(ODD);
  const even = await setStage({ origin: () => answer(200, 'even') });
  const parsed = countParsed(even.gateway.port);
  await (await openClient(even.gateway.port)).ask(EVEN);
  expect(parsed()).toBe(0);
});

test('an origin over TLS is the long way’s', async () => {
  const { gateway } = await setStage({ host: '' });
  await gateway.write({
    hosts: 'hosts: [{id: 1, domain: site.test, origin: "https://127.0.0.1:1"}]',
  });
  expect(await gateway.reload()).toBe(true);
  const parsed = countParsed(gateway.port);
  expect(await (await openClient(gateway.port)).ask(EVEN)).toMatch(/^HTTP\/1\.1 502 /);
  expect(parsed()).toBe(1);
});
