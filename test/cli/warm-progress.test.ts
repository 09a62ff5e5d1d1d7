// What a warming shows while it runs: a line that is written over on a terminal, lines elsewhere.
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createProgress, formatProgress } from '../../src/cli/warm/show-progress.ts';
import { NOTHING_YET, WarmTally } from '../../src/cli/warm/warm-tally.ts';

const MINUTE_MS = 60_000;

function show(isTerminal: boolean): string {
  let text = '';
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  if (isTerminal) Object.assign(output, { isTTY: true });
  const tally = new WarmTally({ ...NOTHING_YET, fresh: 10 }, 10);
  const pages = [{ dimension: 'desktop', outcome: 'stored', detail: null }];
  // One that is done before the first is done; a warming that goes on begins before it.
  tally.add(12, { url: 'c', refused: null, pages });
  tally.add(10, { url: 'a', refused: 'not_a_page', pages: [] });
  const failed = [{ dimension: 'desktop', outcome: 'failed', detail: 'render_timeout' }];
  expect(tally.add(11, { url: 'b', refused: null, pages: failed })).toEqual([
    { url: 'b', dimension: 'desktop', outcome: 'failed', detail: 'render_timeout' },
  ]);
  const progress = createProgress(output, tally, 20, performance.now() - MINUTE_MS);
  progress.show();
  progress.show();
  progress.clear();
  return text;
}

const LINE =
  /13 of 20 URLs, 0\.\d\/s, 2m 2\ds left, 12 pages: 10 fresh, 1 rendered, 1 failed; 1 URL refused/;

test('on a terminal: a bar, once in a while, gone at the end', () => {
  const text = show(true);
  expect(text).toMatch(LINE);
  expect(text).toContain('\r[#############       ] ');
  expect(text.endsWith('\r\u001b[K')).toBe(true);
  expect(text.match(/left/g)).toHaveLength(1);
});

test('elsewhere: plain lines', () => {
  expect(show(false)).toMatch(new RegExp(`^${LINE.source}\n$`));
});

// Nothing ends for a while: seconds of it → what the line says.
test.each([
  [0, '1 of 20 URLs, 0.1/s, 4m 45s left, 1 page: 0 fresh, 1 rendered; 1 to be tried again'],
  [9, '1 of 20 URLs, 0.1/s, 4m 45s left, 1 page: 0 fresh, 1 rendered; 1 to be tried again'],
  [
    12,
    '1 of 20 URLs, 0.1/s, nothing new for 12s, 1 page: 0 fresh, 1 rendered; 1 to be tried again',
  ],
])('silent for %i seconds', (quietS, line) => {
  const tally = new WarmTally(NOTHING_YET, 0);
  const pages = [{ dimension: 'desktop', outcome: 'stored', detail: null }];
  const retry = { dimension: 'desktop', detail: 'render_timeout', delayMs: 5_000 };
  for (const url of ['a', 'b']) tally.putOff({ url, ...retry });
  tally.add(1, { url: 'b', refused: null, pages });
  expect(formatProgress(tally, 20, { elapsedMs: 15_000, quietMs: quietS * 1_000 })).toBe(line);
});
