// What a hit costs where Redis is far: from memory nothing, else one round trip, wherever bodies
// are. Counted between gateway and Redis: whatever is sent before any answer has come is one trip.
// Left aside is only what no request waits for: the questions of the channel, and notes of use.
import { describe, expect, onTestFinished, test } from 'vitest';
import { type RedisRelay, startRedisRelay } from '../helpers/redis-relay.ts';
import { describeWithRedis, startRedisServer } from '../helpers/redis-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { HUMAN, page, type Stage, setStage, waitForCodings } from './stage.ts';

const HTML = `<!doctype html>${'<p>words</p>'.repeat(400)}`;
const HITS = 20;
/** Of many questions' pauses, and longer than trust lasts. */
const SLEEP_MS = 500;
/** Answers of one trip come apart, and what was sent with the first of them is seen before it. */
const DELAY_MS = 20;
/** Readers, channel, notes of use, learned rules, refresh queue: on their own time. */
const BEHIND =
  /\{purges\}:readers|\r\nhmget\r\n|\r\npublish\r\n|\{usage\}:|\r\nlearned\r\n|\{edge-gateway\}/i;

const BODIES = ['filesystem', 'redis'] as const;
const CODINGS = ['identity', 'br'] as const;

describeWithRedis('round trips', () => {
  describe.each(BODIES)('bodies: %s', (bodies) => {
    test.each(CODINGS)('%s: a hit from memory costs none', async (coding) => {
      const { ask, relay } = await openSite(bodies, '128MiB');
      await waitUntil('the page is in memory', async () => {
        const trips = countTrips(relay);
        await hit(ask, coding);
        return trips() === 0;
      });
      const trips = countTrips(relay);
      for (let i = 0; i < HITS; i += 1) await hit(ask, coding);
      expect(trips()).toBe(0);
    });

    test.each(CODINGS)('%s: any other hit costs one', async (coding) => {
      const { ask, relay } = await openSite(bodies, '0');
      const trips = countTrips(relay);
      for (let i = 0; i < HITS; i += 1) await hit(ask, coding);
      expect(trips()).toBe(HITS);
    });

    test('the first hit after a silence, when memory may not be trusted, costs one', async () => {
      const { ask, relay } = await openSite(bodies, '128MiB');
      await hit(ask, 'identity');
      await waitForSleep(relay);
      const trips = countTrips(relay);
      await hit(ask, 'identity');
      expect(trips()).toBe(1);
    });

    test('an answer that was passed on and kept costs one', async () => {
      const { ask, relay } = await openSite(bodies, '0', 'bypass: {cache: {enabled: true}}');
      const isKept = async (): Promise<boolean> =>
        (await ask('/app.js', { userAgent: HUMAN })).header('X-Render-Cache') === 'hit';
      await waitUntil('the answer is kept', isKept);
      const trips = countTrips(relay);
      for (let i = 0; i < HITS; i += 1) expect(await isKept()).toBe(true);
      expect(trips()).toBe(HITS);
    });
  });
});

const COMMAND_START = /(?=\*\d+\r\n\$\d+\r\n[a-z])/i;

interface Site extends Pick<Stage, 'ask'> {
  readonly relay: RedisRelay;
}

/** A gateway that reaches Redis through the relay, and has the page and all its codings. */
async function openSite(bodies: string, memoryBytesMax: string, host = ''): Promise<Site> {
  const redis = await startRedisServer();
  const relay = await startRedisRelay(redis.port);
  onTestFinished(async () => {
    await relay.close();
    await redis.stop();
  });
  const site = await setStage({
    origin: () => page(HTML, 'Cache-Control: max-age=3600'),
    host,
    gateway:
      `storage:\n  bodies: ${bodies}\nredis: {url: "${relay.url}"}\n` +
      `memory: {max_bytes: ${memoryBytesMax}}\n`,
  });
  await site.ask('/');
  await waitForCodings(site, '/');
  relay.delayMs = DELAY_MS;
  return { ask: site.ask, relay };
}

async function hit(ask: Stage['ask'], coding: string): Promise<void> {
  const reply = await ask('/', { headers: [`Accept-Encoding: ${coding}`] });
  expect([reply.status, reply.header('X-Render-Cache')]).toEqual([200, 'hit']);
  expect(reply.header('Content-Encoding') ?? 'identity').toBe(coding);
}

/** Counts from now on; what is sent while nothing that was sent with it is answered is one trip. */
function countTrips(relay: RedisRelay): () => number {
  const waiting = new Set<object>();
  let trips = 0;
  let isUnderWay = false;
  relay.onPiece = (from, text, connection) => {
    if (from === 'redis') {
      if (waiting.delete(connection)) isUnderWay = false;
      return;
    }
    if (text.split(COMMAND_START).every((command) => BEHIND.test(command))) return;
    waiting.add(connection);
    if (!isUnderWay) trips += 1;
    isUnderWay = true;
  };
  return () => trips;
}

/** Until the channel has no more questions, because nobody has any. */
async function waitForSleep(relay: RedisRelay): Promise<void> {
  let askedAt = performance.now();
  relay.onPiece = (_from, text) => {
    if (/\r\nhmget\r\n/i.test(text)) askedAt = performance.now();
  };
  await waitUntil('the channel sleeps', () => performance.now() - askedAt > SLEEP_MS);
}
