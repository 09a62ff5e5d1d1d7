// `warm --resume`: what is remembered when it is stopped, and what the counts are in the end.
import { type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Places } from '../../src/cli/warm/places.ts';
import { NOTHING_YET, type WarmLine, WarmTally } from '../../src/cli/warm/warm-tally.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { page } from '../scenario/stage.ts';
import { finishCommand, startCommand, withFiles } from './run-command.ts';
import { startRunningSite } from './running-site.ts';

const PATHS = ['/a', '/hangs', '/b', '/style.css', '/c'];

async function readState(file: string): Promise<{ readonly done?: number }> {
  const text = await readFile(file, 'utf8').catch(() => '{}');
  return JSON.parse(text);
}

function killAtEnd(child: ChildProcess): void {
  onTestFinished(() => void child.kill('SIGKILL'));
}

test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  '%s: nothing is counted twice, nothing is done twice',
  async (signal) => {
    let hangs = true;
    const { origin, file, run } = await startRunningSite({
      render: ', timeout: 1s',
      answer: ({ target }) => (target === '/hangs' && hangs ? null : page(target)),
    });
    const list = PATHS.map((path) => `http://site.test${path}`).join('\n');
    await withFiles({ 'list.txt': list }, async (folder) => {
      const state = join(folder, 'state.json');
      const argv = ['warm', join(folder, 'list.txt'), '--resume', state];
      const child = startCommand([...argv, '-c', file]);
      killAtEnd(child);
      const finished = finishCommand(child);
      await waitUntil('the last page is asked for', () =>
        origin.requests.some(({ target }) => target === '/c'),
      );
      await waitUntil('it is remembered while it goes on', async () => {
        return (await readState(state)).done === 1;
      });
      child.kill(signal);
      const { status, stdout, stderr } = await finished;
      if (signal !== 'SIGKILL') {
        expect(status).toBe(1);
        expect(stdout).toBe('4 of 5 URLs, 3 pages: 0 fresh, 3 rendered; 1 URL refused\n');
        expect(stderr).toContain('stopped; the same command goes on behind the first 1\n');
      }
      expect(await readState(state)).toMatchObject({
        done: 1,
        counts: { ...NOTHING_YET, rendered: 1 },
      });
      hangs = false;
      expect(await run(argv)).toMatchObject({
        status: 0,
        stdout:
          'going on behind the first 1 of 5\n' +
          '5 of 5 URLs, 4 pages: 2 fresh, 2 rendered; 1 URL refused\n',
      });
    });
  },
  30_000,
);

const line = (outcome: string): WarmLine => ({
  url: outcome,
  refused: null,
  pages: [{ dimension: 'crawlers', outcome, detail: null }],
});

test('what is done beyond the first that is not counts for the sum, not for who goes on', () => {
  const tally = new WarmTally({ ...NOTHING_YET, fresh: 2 }, 2);
  tally.add(4, line('failed'));
  tally.add(5, { url: 'x', refused: 'unknown_host', pages: [] });
  expect(tally).toMatchObject({ done: 4, doneTo: 2, countsToThere: { fresh: 2, failed: 0 } });
  expect(tally.counts).toMatchObject({ fresh: 2, failed: 1, refused: 1, mistaken: 1 });
  tally.add(2, line('stored'));
  expect(tally).toMatchObject({ doneTo: 3, countsToThere: { rendered: 1, failed: 0 } });
  tally.add(3, line('unstored'));
  expect(tally.doneTo).toBe(6);
  expect(tally.countsToThere).toEqual(tally.counts);
});

test('places are lent up to a number, and come back once', async () => {
  const places = new Places(300);
  expect(places.take(1_000)).toBe(300);
  const lent = Array.from({ length: 300 }, () => places.lend()).filter((isLent) => isLent).length;
  expect(lent).toBe(256);
  expect(places.take(1_000)).toBe(256);
  places.release(true);
  expect(places.take(1)).toBe(0);
  const waiting = places.wait();
  places.release(false);
  await waiting;
  expect(places.take(2)).toBe(1);
  expect(places.lend()).toBe(true);
});
