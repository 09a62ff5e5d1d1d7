// A WebSocket handshake on a URL that is not the canonical one: passed on as it came, because no
// WebSocket client follows a redirect. A rule that refuses still does. And what a page of 204 says.
import { expect, it } from 'vitest';
import { sendRaw } from '../helpers/raw-client.ts';
import { setStage } from './stage.ts';

const SWITCHING =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
const HOST = `normalization: {canonical_redirect: 301, trailing_slash: remove}
url_rules: [{match: "/closed*", action: block}]`;

const handshake = (target: string): string =>
  [
    `GET ${target} HTTP/1.1`,
    'Host: site.test',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '\r\n',
  ].join('\r\n');

it.each([
  ['/ws/', 101, ['/ws/']],
  ['/closed/', 403, []],
])('a handshake for %s: %i', async (target, status, forwarded) => {
  const { gateway, origin } = await setStage({ origin: () => SWITCHING, host: HOST });
  const { text } = await sendRaw(gateway.port, handshake(target), {
    until: (received) => received.includes('\r\n\r\n'),
  });
  expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(origin.requests.map((request) => request.target)).toEqual(forwarded);
});

it.each([204, 205])('a page of %i has no content, new and stored', async (status) => {
  const { ask } = await setStage({
    origin: () =>
      status === 204
        ? 'HTTP/1.1 204 No Content\r\nContent-Type: text/html\r\n\r\n'
        : `HTTP/1.1 ${status} Odd\r\nContent-Type: text/html\r\nContent-Length: 3\r\n\r\nabc`,
    render: 'cache: {status_codes: [200, 204, 205]}',
  });
  for (const _time of ['new', 'stored']) {
    const reply = await ask('/page');
    const length = status === 204 ? null : '0';
    expect([reply.status, reply.header('Content-Length') ?? null, reply.body]).toEqual([
      status,
      length,
      '',
    ]);
  }
});
