// What a restart begins with and what follows it: it reads what was saved last, says who asked for
// it, does nothing with a broken file, and whoever asks while it is under way gets another round.

import { readFile, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { ask, HUMAN, page } from '../scenario/stage.ts';
import { countLines, startWorkerGateway, untilTrue, type WorkerGateway } from './worker-gateway.ts';

const WORKERS = 2;
const TIMEOUT_MS = 240_000;
const BODY = 'x'.repeat(2_000);
const WATCHED = 'watch_config: true';

/** Saves it, and leaves it to others to have it read. */
async function saveLimit({ file }: WorkerGateway, bodyBytes: number): Promise<void> {
  const text = await readFile(file, 'utf8');
  const kept = text.replace(/, limits: .*\}\}/, '}').replace('watch_config: false', WATCHED);
  await writeFile(file, kept.replace(WATCHED, `${WATCHED}, limits: {body_bytes: ${bodyBytes}}`));
}

/** What new connections are answered that bring 2,000 bytes; there are more of them than workers. */
async function upload({ port }: WorkerGateway): Promise<ReadonlySet<string>> {
  const question = {
    method: 'POST',
    userAgent: HUMAN,
    headers: [`Content-Length: ${BODY.length}`],
    body: BODY,
  };
  const asked = Array.from({ length: 4 * WORKERS }, () => ask(port, '/form', question));
  return new Set((await Promise.all(asked)).map(({ status }) => String(status)));
}

function askers({ log }: WorkerGateway, message: string): readonly unknown[] {
  return log.flatMap(({ msg, asked_by: askedBy }) => (msg === message ? [askedBy] : []));
}

test(
  'what was saved before counts; asked for in the middle, however often: one more round',
  async () => {
    const held: Socket[] = [];
    const gateway = await startWorkerGateway({
      workers: WORKERS,
      origin: ({ target }, socket) => {
        if (target !== '/held') return page('a page');
        held.push(socket);
        return null;
      },
    });
    const { child, log } = gateway;
    expect(await upload(gateway)).toEqual(new Set(['200']));
    // A request that does not end keeps the first round from ending.
    const waiting = ask(gateway.port, '/held', { userAgent: HUMAN });
    await untilTrue('the origin was asked', () => held.length === 1);

    await saveLimit(gateway, 1_000);
    child.kill('SIGUSR2');
    await untilTrue('one is replaced', () => countLines(log, 'worker started') > WORKERS);
    await saveLimit(gateway, 4_000);
    child.kill('SIGUSR2');
    await untilTrue('heard', () => countLines(log, 'restart asked for') === 2);
    const answered = gateway.admin('/restart', 'POST');
    await untilTrue('heard too', () => countLines(log, 'restart asked for') === 3);
    expect(countLines(log, 'restarted')).toBe(0);
    held[0]?.end(page('held'));
    expect((await waiting).status).toBe(200);

    expect((await answered).status).toBe(200);
    expect(askers(gateway, 'restart asked for')).toEqual(['SIGUSR2', 'SIGUSR2', 'POST /restart']);
    expect(askers(gateway, 'restarting')).toEqual(['SIGUSR2', 'SIGUSR2']);
    expect(countLines(log, 'restarted')).toBe(2);
    expect(await upload(gateway)).toEqual(new Set(['200']));

    await saveLimit(gateway, 1_000);
    child.kill('SIGUSR2');
    await untilTrue('a third time', () => countLines(log, 'restarted') === 3);
    expect(await upload(gateway)).toEqual(new Set(['413']));
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
    // New workers bring the limits along: the first reload was that of a restart.
    expect(log.find(({ msg }) => msg === 'reloaded')).not.toHaveProperty('needs_restart');
  },
  TIMEOUT_MS,
);

test(
  'a broken file: nobody is replaced, and the restart says so',
  async () => {
    const gateway = await startWorkerGateway({ workers: WORKERS, origin: () => page('a page') });
    const before = gateway.workers();
    await gateway.writeHost('url_rulez: []\n');
    const { status, text } = await gateway.admin('/restart', 'POST');
    expect([status, JSON.parse(text)]).toEqual([
      409,
      {
        restarted: false,
        diagnostics: [expect.stringMatching(/hosts\.yaml:5:5: .*url_rulez/s)],
        error: { kind: 'not_restarted', message: expect.stringMatching(/was not applied/) },
      },
    ]);
    expect(gateway.log.filter(({ level }) => level === 'error')).toMatchObject([
      { msg: expect.stringMatching(/^reload refused/) },
      { msg: 'not restarted', reason: expect.stringMatching(/was not applied/) },
    ]);
    expect(gateway.workers()).toEqual(before);
    await gateway.writeHost('');
    expect((await gateway.admin('/restart', 'POST')).status).toBe(200);
  },
  TIMEOUT_MS,
);
