// `server.timeout`: whatever a request waits for on its way, its answer has begun by then. What has
// begun goes on for as long as it moves.
import { describe, expect, test } from 'vitest';
import { sendRaw } from '../helpers/raw-client.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { answer, ask, HUMAN, page, type Reply, setStage, startOrigin } from './stage.ts';

const GET_FILE = `GET /app.js HTTP/1.1\r\nHost: site.test\r\nUser-Agent: ${HUMAN}\r\n\r\n`;

const within = (budget: string, bypass: string): string =>
  `server:\n  timeout: ${budget}\nbypass: {timeout: ${bypass}}\n`;

describe('is over', () => {
  test('while the origin is asked because the renderer was slow', async () => {
    let isAnswered = false;
    const stage = await setStage({
      engine: 'service',
      render: 'timeout: 2s',
      gateway: within('3s', '3s'),
      // Seen from the client: a second after the budget, and a second before bypass.timeout.
      origin: (_request, socket) => {
        setTimeout(() => {
          isAnswered = true;
          socket.write(page('late'));
        }, 2_000);
        return null;
      },
    });
    stage.renderer.script('*', { kind: 'hang' });
    const reply = await stage.ask('/page');
    expect([reply.status, reply.header('Proxy-Status')]).toEqual([
      504,
      'edge-gateway; error=http_response_timeout',
    ]);
    expect(stage.origin.requests).toHaveLength(1);
    expect(isAnswered).toBe(false);
  });

  test('while another request’s answer drips; it is kept all the same', async () => {
    let finish = (): void => undefined;
    const stage = await setStage({
      gateway: within('2s', '2s'),
      render: 'timeout: 2s',
      host: 'bypass: {cache: {enabled: true}}',
      origin: (_request, socket) => {
        socket.write(answer(200, 'first half ', 'Cache-Control: max-age=60').replace('11', '15'));
        finish = () => void socket.write('last');
        return null;
      },
    });
    const get = (): Promise<Reply> => stage.ask('/app.js', { userAgent: HUMAN });
    const first = sendRaw(stage.gateway.port, GET_FILE, { until: (seen) => seen.endsWith('last') });
    await waitUntil('the origin is asked', () => stage.origin.requests.length === 1);
    const reply = await get();
    expect([reply.status, reply.header('Proxy-Status'), reply.header('Retry-After')]).toEqual([
      503,
      'edge-gateway; error=http_response_timeout; details="wait_timeout"',
      '5',
    ]);
    finish();
    expect((await first).text).toContain('first half last');
    await waitUntil('it is kept', async () => (await get()).header('X-Render-Cache') === 'hit');
    expect(stage.origin.requests).toHaveLength(1);
  });
});

describe('is not counted', () => {
  const BUDGET_MS = 1_000;
  const stageWith = async (origin: Parameters<typeof startOrigin>[0]) =>
    await setStage({ gateway: within('1s', '1s'), render: 'timeout: 1s', origin });

  test('for a download', async () => {
    const stage = await stageWith((_request, socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nearly');
      setTimeout(() => socket.write('late'), 2 * BUDGET_MS);
      return null;
    });
    const { text } = await sendRaw(stage.gateway.port, GET_FILE, {
      until: (seen) => seen.endsWith('late'),
    });
    expect(text).toMatch(/^HTTP\/1\.1 200 [^]*earlylate$/);
  });

  test('for an upload', async () => {
    const stage = await stageWith(({ body }) => answer(200, `got ${body}`));
    const head = `POST /form HTTP/1.1\r\nHost: site.test\r\nUser-Agent: ${HUMAN}\r\n`;
    const { text } = await sendRaw(stage.gateway.port, `${head}Content-Length: 4\r\n\r\n`, {
      onConnected: (socket) => {
        for (const [index, byte] of [...'slow'].entries()) {
          setTimeout(() => socket.write(byte), (index + 1) * (BUDGET_MS / 2));
        }
      },
      until: (seen) => seen.endsWith('got slow'),
    });
    expect(text).toMatch(/^HTTP\/1\.1 200 [^]*got slow$/);
  });

  test('for a tunnel', async () => {
    const stage = await stageWith((_request, socket) => {
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      );
      setTimeout(() => socket.write('late'), 2 * BUDGET_MS);
      return null;
    });
    const lines = [
      'GET /chat HTTP/1.1',
      'Host: site.test',
      `User-Agent: ${HUMAN}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    ];
    const { text } = await sendRaw(stage.gateway.port, `${lines.join('\r\n')}\r\n\r\n`, {
      until: (seen) => seen.endsWith('late'),
    });
    expect(text).toMatch(/^HTTP\/1\.1 101 [^]*late$/);
  });
});

test('a request that waits for nobody is not touched', async () => {
  const stage = await setStage({ gateway: within('1s', '1s'), render: 'timeout: 1s' });
  const reply = await ask(stage.gateway.port, '/page');
  expect([reply.status, reply.body]).toEqual([200, 'a page']);
});
