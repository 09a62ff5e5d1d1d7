// Whoever asked has an address, also when it has left before it is asked for.
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { waitUntil } from '../helpers/wait-until.ts';
import { slowly } from '../lane/lane-client.ts';
import { humanGet } from '../lane/pass-client.ts';
import { setStage } from '../scenario/stage.ts';

const CLIENTS = 300;

test.each([
  ['the lane', humanGet('/page')],
  ['the long way', slowly(humanGet('/page'))],
])(
  'clients that reset at once, by %s',
  async (_way, request) => {
    const stage = await setStage();
    for (let i = 0; i < CLIENTS; i += 1) {
      const socket = connect(stage.gateway.port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(request);
      socket.resetAndDestroy();
    }
    const lines = () => stage.gateway.log.filter(({ msg }) => msg === 'request');
    await waitUntil('some are logged', () => lines().length > 0);
    await stage.ask('/last');
    expect(lines().filter(({ client }) => client !== '127.0.0.1')).toEqual([]);
    const passed = stage.origin.heads.filter((head) => head.startsWith('GET /page'));
    const told = passed.map((head) => /^X-Forwarded-For: (.*)\r$/m.exec(head)?.[1]);
    expect(told.filter((address) => address !== '127.0.0.1')).toEqual([]);
  },
  30_000,
);
