// Loops: a request that has been here before is 508, wherever it came back from, and going in
// circles ends at once.

import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { valuesOf } from '../helpers/raw-origin.ts';
import { BOT, HUMAN, hostsText, page, type Stage, setStage } from './stage.ts';

/** Our own name, as an origin sees it. */
async function pseudonymOf(stage: Stage): Promise<string> {
  await stage.ask('/name', { userAgent: HUMAN });
  return valuesOf(stage.origin.requests[0], 'via')[0] ?? '';
}

test.each([
  ['a person', HUMAN],
  ['a crawler', BOT],
])('our own name in Via is 508, for %s', async (_who, userAgent) => {
  const stage = await setStage();
  const via = await pseudonymOf(stage);
  for (const lines of [[`Via: ${via}`], ['Via: 1.0 cdn', `Via: 1.1 other, ${via}`]]) {
    const reply = await stage.ask('/page', { userAgent, headers: lines });
    expect([reply.status, reply.header('Cache-Control')]).toEqual([508, 'private, no-store']);
  }
  const others = ['Via: 1.1 edge-gateway, 1.1 edge-gateway-00000000, 1.1 cdn'];
  expect((await stage.ask('/page', { userAgent, headers: others })).status).toBe(200);
});

test.each([
  ['a person', HUMAN],
  ['a crawler', BOT],
])(
  'an origin that is the gateway itself is 508, after one round, for %s',
  async (_who, userAgent) => {
    const stage = await setStage({ gateway: 'server:\n  watch_config: false\n' });
    await stage.gateway.write({ hosts: hostsText(`http://127.0.0.1:${stage.gateway.port}`) });
    await stage.gateway.reload();
    const reply = await stage.ask('/page', { userAgent });
    expect(reply.status).toBe(508);
    expect(reply.durationMs).toBeLessThan(2_000);
    const requests = stage.gateway.log.filter(({ msg }) => msg === 'request');
    expect(requests.length).toBe(2);
  },
);

test('a loop through another proxy, which keeps Via, is found as well', async () => {
  let gatewayPort = 0;
  const stage = await setStage({
    origin: (request, socket) => {
      if (!request.target.startsWith('/loop')) return page('page');
      const back = connect(gatewayPort, '127.0.0.1');
      back.write(`${request.head.replace('keep-alive', 'close')}\r\n\r\n`);
      back.pipe(socket);
      return null;
    },
  });
  gatewayPort = stage.gateway.port;
  expect((await stage.ask('/loop', { userAgent: HUMAN })).status).toBe(508);
  expect(stage.origin.requests.length).toBe(1);
});
