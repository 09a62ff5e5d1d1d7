// Several origins of one host: turns, leaving out the failing one, and its way back.
import { expect, it } from 'vitest';
import { createOriginBalancer } from '../../src/adapters/origin/balance-origins.ts';

const ORIGINS = [{ url: 'http://a' }, { url: 'http://b' }, { url: 'http://c' }];

function start(): { take: () => string; fail: (url: string) => void; pass: (ms: number) => void } {
  let now = 1_000_000;
  const balancer = createOriginBalancer({ now: () => now });
  return {
    take: () => {
      const turn = balancer.take(ORIGINS.map((origin) => ({ ...origin })));
      turn.end('ok');
      return turn.originUrl;
    },
    fail: (url) => {
      const [origin] = ORIGINS.filter((one) => one.url === url);
      for (let i = 0; i < ORIGINS.length; i += 1) {
        const turn = balancer.take(ORIGINS);
        turn.end(turn.originUrl === origin?.url ? 'failed' : 'busy');
      }
    },
    pass: (ms) => {
      now += ms;
    },
  };
}

it('takes turns', () => {
  const { take } = start();
  expect(new Set([take(), take(), take()])).toEqual(new Set(['http://a', 'http://b', 'http://c']));
});

it('leaves out the one that failed, until its time is over', () => {
  const { take, fail, pass } = start();
  fail('http://b');
  expect(Array.from({ length: 6 }, take)).not.toContain('http://b');
  pass(60_000);
  expect(Array.from({ length: 3 }, take)).toContain('http://b');
});

it('still asks one when all have failed', () => {
  const { take, fail } = start();
  for (const { url } of ORIGINS) fail(url);
  expect(ORIGINS.map(({ url }) => url)).toContain(take());
});

it('prefers the one with least in flight', () => {
  const balancer = createOriginBalancer({ now: () => 0 });
  const held = [balancer.take(ORIGINS), balancer.take(ORIGINS)];
  const third = balancer.take(ORIGINS);
  expect(held.map(({ originUrl }) => originUrl)).not.toContain(third.originUrl);
  for (const turn of [...held, third]) turn.end('ok');
});
