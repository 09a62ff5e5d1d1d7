// Purges against what this process does and knows itself: fetches that began before, and what was
// learned about a page. A purge is an order; nothing older than it may come back (case D42).
import { describe, expect, test } from 'vitest';
import { type PurgeAnswer, postPurge } from '../helpers/post-purge.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { answer, page, type Reply, type Stage, type StageOptions, setStage } from './stage.ts';
import { limitWaiters, served, untilRefused } from './waiters.ts';

const HOUR_MS = 3_600_000;
const ORDERS = [{ url: 'https://site.test/page' }, { host: 'site.test' }] as const;

type Body = Readonly<Record<string, unknown>>;

async function purge(stage: Stage, body: Body): Promise<number> {
  return (await report(stage, body)).status;
}

const report = (stage: Stage, body: Body): Promise<PurgeAnswer> =>
  postPurge(stage.gateway.adminPort, body);

interface HeldStage extends Stage {
  /** Answers the oldest request that is held. */
  readonly release: (text: string) => void;
  readonly heldCount: () => number;
  readonly hold: (isHeld: boolean) => void;
}

/** A stage whose origin answers when it is told to. */
async function setHeldStage(options: StageOptions = {}): Promise<HeldStage> {
  const waiting: ((text: string) => void)[] = [];
  let isHolding = true;
  const stage = await setStage({
    hasTestClock: true,
    render: 'cache: {jitter: 0}',
    ...options,
    origin: (_request, socket) => {
      if (!isHolding) return page('new');
      waiting.push((text) => socket.write(page(text)));
      return null;
    },
  });
  return {
    ...stage,
    release: (text) => waiting.shift()?.(text),
    heldCount: () => waiting.length,
    hold: (isHeld) => {
      isHolding = isHeld;
    },
  };
}

const brief = (reply: Reply): string => `${reply.header('X-Render-Cache')} ${reply.body}`;

describe.each(ORDERS)('D42: a purge of %o', (order) => {
  test('wins over the fetch that began before it', async () => {
    const stage = await setHeldStage({ gateway: limitWaiters(1) });
    const clients = Array.from({ length: 3 }, () => stage.ask('/page'));
    await untilRefused(clients, 1);
    await waitUntil('the fetch is under way', () => stage.heldCount() === 1);
    expect(await purge(stage, order)).toBe(200);
    stage.hold(false);
    // Who comes after the purge does not wait for what is older.
    expect(brief(await stage.ask('/page'))).toBe('new new');
    stage.release('old');
    expect((await served(clients)).map(brief)).toEqual(['new old', 'new old']);
    expect((await stage.ask('/page')).body).toBe('new');
  });

  test('wins over a refresh', async () => {
    const stage = await setHeldStage();
    stage.hold(false);
    await stage.ask('/page');
    stage.clock.advance(HOUR_MS);
    stage.hold(true);
    expect(brief(await stage.ask('/page'))).toBe('stale new');
    await waitUntil('the refresh is under way', () => stage.heldCount() === 1);
    await purge(stage, order);
    stage.release('old');
    stage.hold(false);
    expect(brief(await stage.ask('/page'))).toBe('new new');
    expect(brief(await stage.ask('/page'))).toBe('hit new');
  });

  test.each([
    ['a file', answer(200, '{}', 'Content-Type: application/json')],
    ['a page for one client', page('x', 'Cache-Control: no-store')],
    ['a failure', answer(500, 'x', 'Content-Type: text/html', 'Set-Cookie: a=b')],
  ])('forgets that it was %s', async (_what, first) => {
    let next: string = first;
    const stage = await setStage({ origin: () => next });
    await stage.ask('/page');
    next = page('a page');
    await purge(stage, { ...order, dry_run: true });
    const before = await stage.ask('/page');
    await purge(stage, order);
    const after = [await stage.ask('/page'), await stage.ask('/page')];
    expect(before.header('X-Render-Cache')).not.toBe('hit');
    expect(brief(after[1] ?? before)).toBe('hit a page');
  });
});

test('a purge of another page or host changes nothing for a fetch', async () => {
  const stage = await setHeldStage();
  const client = stage.ask('/page');
  await waitUntil('the fetch is under way', () => stage.heldCount() === 1);
  expect(await purge(stage, { url: 'https://site.test/other' })).toBe(200);
  stage.release('kept');
  await client;
  expect(brief(await stage.ask('/page'))).toBe('hit kept');
});

test.each(['site.test', 'SITE.test.', '1', 'bücher.example', 'xn--bcher-kva.example'])(
  'a host is found as %s',
  async (host) => {
    const stage = await setStage({ domain: '[site.test, bücher.example]' });
    expect(await purge(stage, { host })).toBe(200);
  },
);

test('HEAD on a stale page starts no refresh', async () => {
  const stage = await setStage({ hasTestClock: true, render: 'cache: {jitter: 0}' });
  await stage.ask('/page');
  stage.clock.advance(HOUR_MS);
  const reply = await stage.ask('/page', { method: 'HEAD' });
  expect(reply.header('X-Render-Cache')).toBe('stale');
  await stage.ask('/other');
  expect(stage.origin.requests.map(({ target }) => target)).toEqual(['/page', '/other']);
});

test('a page that was there is counted, also where requests are faster than the purge', async () => {
  const stage = await setStage({ origin: () => page('a page') });
  let isOver = false;
  const client = async (): Promise<void> => {
    while (!isOver) await stage.ask('/page');
  };
  const clients = [client(), client()];
  const counts: number[] = [];
  for (let round = 0; round < 30; round += 1) {
    await waitUntil('it is stored', async () => brief(await stage.ask('/page')) === 'hit a page');
    const { answer: counted } = await report(stage, { url: 'https://site.test/page' });
    counts.push(Number(counted['entries']) + Number(counted['newer']));
  }
  isOver = true;
  await Promise.all(clients);
  expect(counts).toEqual(counts.map(() => 1));
});
