// What is passed on and may be kept, while the store is slow to take it: whoever waits for it has
// it as soon as it is here, each in his own variant.
import { expect, onTestFinished, test } from 'vitest';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import { connectStores } from '../contract/open-redis-stores.ts';
import { describeWithRedis, startRedisServer } from '../helpers/redis-server.ts';
import { FRESH } from './bypass-stage.ts';
import { answer, HUMAN, setStage } from './stage.ts';

/** Shorter than writers wait for each other. */
const TIMEOUT_MS = 8_000;
const LANGUAGES = ['de', 'en', 'fr', 'it', 'pl'];

describeWithRedis('another machine stores under the same URL, and takes its time', () => {
  test('nobody waits for it, and each variant is asked for once', async () => {
    const redis = await startRedisServer();
    onTestFinished(redis.stop);
    const asked: string[] = [];
    const stage = await setStage({
      host: 'bypass: {cache: {enabled: true, ttl: 0s}}',
      gateway: `storage:\n  bodies: redis\nredis: {url: "${redis.url}"}\n`,
      origin: ({ fields }) => {
        const language = fields.find(([name]) => name === 'accept-language')?.[1] ?? '';
        asked.push(language);
        return answer(200, language, FRESH, 'Vary: Accept-Language');
      },
    });
    const other = await connectStores(redis.url);
    onTestFinished(other.close);
    const hash = (await createHasher()).text('https://site.test/app.js');
    const turn = await other.leases.enter(`store:cache:1:0:${hash}`);
    expect(turn.role).toBe('leader');
    const wanted = Array.from({ length: 20 }, (_, i) => LANGUAGES[i % LANGUAGES.length] ?? '');
    const replies = await Promise.all(
      wanted.map((language) =>
        stage.ask('/app.js', {
          userAgent: HUMAN,
          headers: [`Accept-Language: ${language}`],
          timeoutMs: TIMEOUT_MS,
        }),
      ),
    );
    expect(replies.map(({ body }) => body)).toEqual(wanted);
    expect(turn.role === 'leader' && turn.lease.isHeld()).toBe(true);
    expect(asked.toSorted()).toEqual(LANGUAGES);
    if (turn.role === 'leader') await turn.lease.release({ outcome: 'lost', reason: null });
  });
});
