// Ports and the servers behind them are apart: what Node does for a server that listens itself is
// there all the same.
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { openPort } from '../../src/server/door/open-port.ts';
import { startTestGateway } from '../helpers/gateway.ts';
import { sendRaw } from '../helpers/raw-client.ts';
import { waitUntil } from '../helpers/wait-until.ts';

const HOSTS = 'hosts:\n  - {id: 1, domain: site.test, origin: "http://127.0.0.1:9"}\n';

async function start(server: string): Promise<number> {
  const gateway = await startTestGateway({
    gateway: `server:\n  watch_config: false\n${server}render: {engine: origin}\n`,
    hosts: HOSTS,
  });
  onTestFinished(gateway.close);
  return gateway.port;
}

test('a head that does not come ends with 408', async () => {
  const port = await start('  limits: {headers_timeout: 500ms}\n');
  const { text, end } = await sendRaw(port, 'GET / HTTP/1.1\r\n');
  expect([text.slice(0, 12), end]).toEqual(['HTTP/1.1 408', 'closed']);
});

test('connections beyond the limit are closed, and there is room again when others end', async () => {
  const port = await start('  limits: {connections: 2}\n');
  const [first, second] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  onTestFinished(() => void [first, second].map((socket) => socket.destroy()));
  const isServed = async (): Promise<boolean> => {
    const request = 'GET / HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n';
    return (await sendRaw(port, request)).text.startsWith('HTTP/1.1 421');
  };
  await waitUntil('there is no room', async () => !(await isServed()));
  first.destroy();
  await waitUntil('there is room again', isServed);
});

test('localhost is all of its addresses that there are, on one port; closed, it accepts no more', async () => {
  const seen: string[] = [];
  const port = await openPort(
    { host: 'localhost', port: 0 },
    {
      isPaused: false,
      onConnection: (socket) => {
        seen.push(socket.localAddress ?? '');
        socket.destroy();
      },
    },
  );
  const found = await lookup('localhost', { all: true });
  const local = Object.values(networkInterfaces()).flatMap((list = []) => list);
  const names = new Set(found.map(({ address }) => address));
  const addresses = local.map(({ address }) => address).filter((address) => names.has(address));
  for (const address of addresses) connect(port.port, address).on('error', () => undefined);
  await waitUntil('all are there', () => seen.length === addresses.length);
  expect(seen.toSorted()).toEqual(addresses.toSorted());
  port.close();
  expect((await sendRaw(port.port, 'x')).end).toBe('reset');
});
