// Answers in chunks that turn out too large to be kept: nothing is claimed before it is known, and
// what was learned is said of the next ones.
import { expect, test } from 'vitest';
import type { Answer } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { FRESH, setUp } from './bypass-stage.ts';
import { HUMAN, type Stage } from './stage.ts';

const LIMITED = { gateway: 'server:\n  limits: {page_bytes: 64KiB}\n' };
/** How long it is remembered, and a little. */
const MEMORY_MS = 121_000;

/** A body whose length is not said; its second half comes when the first is on its way. */
const chunked =
  (bytes: number): Answer =>
  (_request, socket) => {
    const half = `${(bytes / 2).toString(16)}\r\n${'x'.repeat(bytes / 2)}\r\n`;
    const head = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n${FRESH}\r\n\r\n`;
    socket.write(head + half, () => setTimeout(() => socket.write(`${half}0\r\n\r\n`), 50));
    return null;
  };

async function linesOf({ gateway }: Stage, count: number) {
  const lines = () => gateway.log.filter(({ msg }) => msg === 'request');
  await waitUntil('all are told', () => lines().length === count);
  return lines();
}

async function explain({ gateway }: Stage): Promise<unknown> {
  const asked = new URLSearchParams({ url: 'http://site.test/app.js', user_agent: HUMAN });
  const response = await fetch(`http://127.0.0.1:${gateway.adminPort}/explain?${asked.toString()}`);
  return await response.json();
}

test('too large: not said to be stored, told in the log, known for the next', async () => {
  const stage = await setUp(chunked(200_000), LIMITED);
  const statuses: (string | null)[] = [];
  for (let round = 1; round <= 3; round += 1) {
    const reply = await stage.get();
    expect(reply.body).toHaveLength(200_000);
    expect(reply.header('X-Render-Cache')).toBe('bypass');
    statuses.push((reply.header('Cache-Status') ?? '').replace(/; key="[^"]*"/, ''));
  }
  const known = 'edge-gateway; fwd=uri-miss; detail=too_large';
  expect(statuses).toEqual(['edge-gateway; fwd=uri-miss', known, known]);
  for (const line of await linesOf(stage, 3)) {
    expect(line).toMatchObject({ status: 200, cache: 'bypass', detail: 'too_large' });
    expect(line).not.toHaveProperty('origin_error');
  }
  const expected = { cached: 'absent', not_kept: 'too_large', would: 'bypass', may_keep: true };
  expect(await explain(stage)).toMatchObject(expected);
});

test('it has become smaller: tried again after two minutes, or at once where it says so', async () => {
  for (const isDelayed of [true, false]) {
    const stage = await setUp(chunked(200_000), LIMITED);
    await stage.get();
    await linesOf(stage, 1);
    const small = `HTTP/1.1 200 OK\r\nContent-Length: 5\r\n${FRESH}\r\n\r\nsmall`;
    stage.current = isDelayed ? chunked(2_000) : () => small;
    if (isDelayed) stage.clock.advance(MEMORY_MS);
    await stage.get();
    expect((await stage.get()).header('X-Render-Cache')).toBe('hit');
    expect(await explain(stage)).toMatchObject({ cached: 'fresh', not_kept: null });
  }
});

test('a length that is known and fits is said to be stored; one in chunks is stored unsaid', async () => {
  const stage = await setUp(chunked(2_000));
  const first = await stage.get();
  expect(first.header('Cache-Status')).not.toMatch(/stored|detail/);
  expect((await stage.get()).header('X-Render-Cache')).toBe('hit');
  stage.current = () => `HTTP/1.1 200 OK\r\nContent-Length: 2\r\n${FRESH}\r\n\r\nok`;
  const other = await stage.get({}, '/other.js');
  expect(other.header('Cache-Status')).toContain('fwd=uri-miss; stored');
});
