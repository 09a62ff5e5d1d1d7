// Any number of requests for one page cause one fetch, which belongs to no client. How many wait is
// known by the first who is refused, so that no test has to guess.
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import type { Answer, RawRequest } from '../helpers/raw-origin.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { page, type Reply, type Stage, setStage } from './stage.ts';
import { limitWaiters, untilRefused } from './waiters.ts';

/** An origin that answers nothing before it is told to. */
function holdAnswers(make: (request: RawRequest) => string): {
  readonly answer: Answer;
  readonly release: () => void;
  readonly held: () => number;
} {
  const waiting: (() => void)[] = [];
  let isHolding = true;
  return {
    held: () => waiting.length,
    answer: (request, socket) => {
      const bytes = make(request);
      if (!isHolding) return bytes;
      waiting.push(() => void socket.write(bytes, 'latin1'));
      return null;
    },
    release: () => {
      isHolding = false;
      for (const send of waiting.splice(0)) send();
    },
  };
}

/** Asks so often that one is refused, which tells that all the others wait for the first. */
function burst(stage: Stage, count: number): { readonly replies: readonly Promise<Reply>[] } {
  return { replies: Array.from({ length: count }, () => stage.ask('/page')) };
}

test('a hundred crawlers on a cold page are one request; beyond the limit they are refused', async () => {
  const hold = holdAnswers(() => page('the page'));
  const stage = await setStage({ gateway: limitWaiters(99), origin: hold.answer });
  const { replies } = burst(stage, 103);
  await untilRefused(replies, 3);
  hold.release();
  const all = await Promise.all(replies);
  const refused = all.filter(({ status }) => status === 503);
  for (const reply of refused) {
    expect(Number(reply.header('Retry-After'))).toBeGreaterThan(0);
    expect(reply.header('Cache-Status')).toContain('detail=waiters_limit');
  }
  const served = all.filter(({ status }) => status === 200);
  expect(served.every(({ body }) => body === 'the page')).toBe(true);
  const collapsed = served.filter((reply) =>
    /; collapsed/.test(reply.header('Cache-Status') ?? ''),
  );
  expect([served.length, collapsed.length]).toEqual([100, 99]);
  expect(stage.origin.requests.length).toBe(1);
});

test('D26, D38: what may not be stored is shared by nobody, and the next burst is parallel', async () => {
  let count = 0;
  const hold = holdAnswers(() => {
    count += 1;
    return page(`for client ${count}`, 'Cache-Control: no-store');
  });
  let current = hold;
  const stage = await setStage({
    gateway: limitWaiters(19),
    origin: (request, socket) => current.answer(request, socket),
  });
  const { replies } = burst(stage, 21);
  await untilRefused(replies, 1);
  await waitUntil('the origin is asked', () => hold.held() === 1);
  hold.release();
  const bodies = (await Promise.all(replies)).filter(({ status }) => status === 200);
  expect(new Set(bodies.map(({ body }) => body)).size).toBe(20);

  const again = holdAnswers(() => page('alone', 'Cache-Control: no-store'));
  current = again;
  const second = burst(stage, 20);
  // Nobody is answered yet, so all twenty are under way side by side.
  await waitUntil('all twenty are at the origin', () => again.held() === 20);
  again.release();
  expect((await Promise.all(second.replies)).every(({ body }) => body === 'alone')).toBe(true);
});

test('D39: the leader’s client leaves, and the page is got for the rest', async () => {
  const hold = holdAnswers(() => page('the page'));
  const stage = await setStage({ gateway: limitWaiters(1), origin: hold.answer });
  const leader = connect(stage.gateway.port, '127.0.0.1');
  leader.write('GET /page HTTP/1.1\r\nHost: site.test\r\nUser-Agent: Googlebot/2.1\r\n\r\n');
  await waitUntil('the origin is asked', () => hold.held() === 1);
  leader.destroy();
  const { replies } = burst(stage, 2);
  await untilRefused(replies, 1);
  await waitUntil('the leader is gone', () =>
    stage.gateway.log.some(({ aborted }) => aborted === true),
  );
  hold.release();
  const served = (await Promise.all(replies)).filter(({ status }) => status === 200);
  expect(served.map(({ body }) => body)).toEqual(['the page']);
  expect((await stage.ask('/page')).header('X-Render-Cache')).toBe('hit');
  expect(stage.origin.requests.length).toBe(1);
});

test('H3: a failure is shared like a page: nobody repeats it', async () => {
  const hold = holdAnswers(() => 'no HTTP\r\n\r\n');
  const stage = await setStage({ gateway: limitWaiters(30), origin: hold.answer });
  const { replies } = burst(stage, 32);
  await untilRefused(replies, 1);
  hold.release();
  const all = await Promise.all(replies);
  expect(all.filter(({ status }) => status === 502).length).toBe(31);
  expect(stage.origin.requests.length).toBe(1);
});
