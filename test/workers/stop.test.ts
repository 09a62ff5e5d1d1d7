// An orderly stop with workers: what runs ends, nobody is left, and signals may come as they like.
import { expect, test } from 'vitest';
import { isAlive } from '../helpers/is-alive.ts';
import { hasAnswers, sendRaw } from '../helpers/raw-client.ts';
import { ask, page } from '../scenario/stage.ts';
import { countLines, startWorkerGateway, untilTrue } from './worker-gateway.ts';

const TIMEOUT_MS = 240_000;
const PERSON = 'GET /slow HTTP/1.1\r\nHost: site.test\r\nUser-Agent: Firefox\r\n\r\n';

test(
  'to the whole group, twice: running requests end, then all processes',
  async () => {
    const held: (() => void)[] = [];
    const gateway = await startWorkerGateway({
      workers: 2,
      hasGroup: true,
      origin: ({ target }, socket) => {
        if (target !== '/slow') return page('a page');
        held.push(() => socket.write(page('slow')));
        return null;
      },
    });
    const pids = [...gateway.workers().values()];
    const running = sendRaw(gateway.port, PERSON, { until: hasAnswers(1), timeoutMs: TIMEOUT_MS });
    await untilTrue('it is under way', () => held.length === 1);
    // As a terminal does with Ctrl-C: every process gets it.
    const group = -(gateway.child.pid ?? 0);
    process.kill(group, 'SIGINT');
    await untilTrue('it stops', () => countLines(gateway.log, 'stopping') > 0);
    process.kill(group, 'SIGINT');
    process.kill(group, 'SIGTERM');
    await untilTrue('not ready', async () => (await gateway.admin('/ready')).status === 503);
    expect(pids.filter(isAlive).length).toBeGreaterThan(0);
    for (const answer of held) answer();
    const { text } = await running;
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toMatch(/^connection: close\r$/im);
    expect(await gateway.ended).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(gateway.complaints()).toBe('');
  },
  TIMEOUT_MS,
);

test(
  'commands work beside it: explain and purge know what the workers stored',
  async () => {
    const gateway = await startWorkerGateway({ workers: 2, origin: () => page('a page') });
    expect((await ask(gateway.port, '/page')).header('X-Render-Cache')).toBe('new');
    const target = encodeURIComponent('https://site.test/page');
    const explained = await gateway.admin(`/explain?url=${target}`);
    expect(JSON.parse(explained.text)).toMatchObject({ cached: 'fresh', would: 'serve' });
    for (let index = 0; index < 6; index += 1) {
      expect((await ask(gateway.port, '/page')).header('X-Render-Cache')).toBe('hit');
    }
  },
  TIMEOUT_MS,
);
