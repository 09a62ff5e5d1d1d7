// edge_gateway_store_errors_total: every answer of a store that was none is counted, by what was
// asked of which store; and what memory answers is asked of nobody.
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import { countStoreErrors } from '../../src/compose/count-store-errors.ts';
import { encodeEntry } from '../../src/core/key/entry-codec.ts';
import type { LearnedRule } from '../../src/core/learned/learned-rule.ts';
import type { BodyStore, Done } from '../../src/pipeline/ports.ts';
import { connectStores } from '../contract/open-redis-stores.ts';
import { ALL, KEY } from '../contract/redis-stage.ts';
import { digestOf, digestsOf, refOf } from '../contract/stored-bodies.ts';
import { makeEntry } from '../contract/stored-entries.ts';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { page, type Stage, setStage } from './stage.ts';

/** Values of the counter by `store operation state`. */
async function readErrors({ gateway }: Stage): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`http://127.0.0.1:${gateway.adminPort}/metrics`);
  const lines = (await response.text()).matchAll(
    /^edge_gateway_store_errors_total\{store="(\w+)",operation="(\w+)",state="(\w+)"\} (\d+)$/gm,
  );
  return new Map(
    [...lines].map(([, store, operation, state, count]) => [
      `${store} ${operation} ${state}`,
      Number(count),
    ]),
  );
}

const RULE: LearnedRule = {
  hostId: 1,
  address: 'https://site.test/a',
  header: 'params=("b")',
  variance: { ignoresOrder: false, mode: 'drop', names: new Set(['b']) },
  from: 'https://site.test/a?b=1',
  at: Date.now(),
};

let redis: RedisServer;

describeWithRedis('Redis is gone', () => {
  beforeEach(async () => {
    redis = await startRedisServer();
  });
  afterEach(async () => {
    await redis.stop();
  });

  test('each request that asked it counts, until it is back', async () => {
    const stage = await setStage({
      gateway: `redis: {url: "${redis.url}"}\n`,
      origin: ({ target }) => page(target),
    });
    await stage.ask('/page');
    expect([...(await readErrors(stage)).keys()]).toEqual([]);
    await redis.kill();
    for (const target of ['/page', '/new', '/other']) {
      expect((await stage.ask(target)).status).toBe(200);
    }
    const gone = await readErrors(stage);
    expect(gone.get('entries read unavailable')).toBeGreaterThanOrEqual(3);
    expect(gone.get('purge_log read unavailable')).toBeGreaterThanOrEqual(3);
    redis = await startRedisServer({ port: redis.port });
    await waitUntil('Redis is used again', async () => {
      const reply = await stage.ask('/new');
      return reply.header('X-Render-Cache') === 'hit';
    });
    const back = await readErrors(stage);
    expect((await stage.ask('/new')).header('X-Render-Cache')).toBe('hit');
    expect(await readErrors(stage)).toEqual(back);
  });

  test('what was asked of which store', async () => {
    const hasher = await createHasher();
    const opened = await connectStores(redis.url);
    onTestFinished(opened.close);
    await redis.kill();
    const counted: string[] = [];
    const { entries, bodies, purgeLog, learned } = countStoreErrors(
      { ...opened, bodies: bodiesOf(opened) },
      ({ store, operation }) => counted.push(`${store} ${operation}`),
    );
    const entry = makeEntry();
    const [ref, digest] = [refOf(1), digestOf(hasher, Buffer.from('abc'))];
    const questions: readonly (readonly [string, () => Promise<{ readonly state: string }>])[] = [
      ['entries read', () => entries.get(KEY)],
      ['entries write', () => entries.put(KEY, entry)],
      ['entries replace', () => entries.replace(KEY, entry, entry)],
      ['entries read', () => entries.has(KEY)],
      ['entries delete', () => entries.delete(KEY, encodeEntry(entry))],
      ['entries delete', () => entries.deleteForeign(KEY)],
      ['entries claim', () => entries.claim(KEY)],
      ['entries claim', () => entries.release(KEY, 'nobody')],
      ['entries list', () => lastOf(entries.keys({}))],
      ['entries list', () => lastOf(entries.entries({}))],
      ['entries list', () => entries.dimensions(1)],
      ['entries check', () => entries.check()],
      ['bodies write', () => bodies.write(ref, { identity: Buffer.from('abc') }, Date.now() + 9e6)],
      ['bodies extend', () => bodies.keepUntil(ref, Date.now() + 9e6)],
      ['bodies read', () => bodies.read(ref, 'identity', digestsOf('identity', digest))],
      [
        'bodies read',
        () => bodies.readAhead(ref, ['identity'])('identity', digestsOf('identity', digest)),
      ],
      ['bodies delete', () => bodies.delete(ref)],
      ['bodies check', () => bodies.check()],
      ['purge_log write', () => purgeLog.append(ALL)],
      ['purge_log read', () => purgeLog.readAfter(0)],
      ['learned_rules read', () => learned.refresh()],
      ['learned_rules write', () => learned.learn(RULE)],
      ['learned_rules delete', () => learned.forget(RULE.hostId, RULE.address)],
    ];
    for (const [what, ask] of questions) {
      counted.length = 0;
      const { state } = await ask();
      expect({ what, state, counted }).toEqual({ what, state: 'unavailable', counted: [what] });
    }
  });

  test('what is asked of nobody costs nothing', async () => {
    const opened = await connectStores(redis.url);
    onTestFinished(opened.close);
    const bodies = bodiesOf(opened);
    const counted = countStoreErrors({ ...opened, bodies }, () => undefined);
    expect(counted.entries.isCurrent).toBe(opened.entries.isCurrent);
    expect(counted.purgeLog.isCaughtUp).toBe(opened.purgeLog.isCaughtUp);
    expect(counted.purgeLog.life).toBe(opened.purgeLog.life);
    expect(counted.learned.current).toBe(opened.learned.current);
  });
});

describe('the folder of the bodies', () => {
  test('cannot be written to: each page that was not stored counts', async () => {
    const stage = await setStage({ hasTestClock: true, origin: ({ target }) => page(target) });
    const folder = join(stage.gateway.folder, 'data', 'pages');
    // A file in its place stops also those whom permissions do not stop.
    await rename(folder, `${folder}.aside`);
    await writeFile(folder, '');
    for (const target of ['/a', '/b', '/c']) {
      const reply = await stage.ask(target);
      expect(reply.header('Cache-Status')).toContain('detail=store_unavailable');
    }
    expect([...(await readErrors(stage))]).toEqual([['bodies write unavailable', 3]]);
    await rm(folder);
    await rename(`${folder}.aside`, folder);
    stage.clock.advance(60_000);
    await stage.ask('/d');
    expect((await stage.ask('/d')).header('X-Render-Cache')).toBe('hit');
    expect([...(await readErrors(stage))]).toEqual([['bodies write unavailable', 3]]);
  });
});

function bodiesOf({ bodies }: { readonly bodies: BodyStore | null }): BodyStore {
  if (bodies === null) throw new Error('bodies are kept in Redis here');
  return bodies;
}

async function lastOf<T>(parts: AsyncIterable<Done<T>>): Promise<{ readonly state: string }> {
  let last: { readonly state: string } = { state: 'nothing' };
  for await (const part of parts) last = part;
  return last;
}
