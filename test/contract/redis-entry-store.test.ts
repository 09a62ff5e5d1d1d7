// The Redis store against a real redis-server: the contract, then everything that happens to a
// Redis in operation (attacks.md H15, H22, H23, H24).
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RedisStoresWarning } from '../../src/adapters/redis/connect-redis-stores.ts';
import { connectRedisStores } from '../../src/adapters/redis/connect-redis-stores.ts';
import { escapeGlob } from '../../src/adapters/redis/escape-glob.ts';
import { systemClock } from '../../src/adapters/system/system-clock.ts';
import { encodeEntry } from '../../src/core/key/entry-codec.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { describeRedisError } from '../../src/core/redis-error.ts';
import type { EntryStore } from '../../src/pipeline/ports.ts';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import { describeBodyClaims } from './body-claims.contract.ts';
import { describeEntryStore } from './entry-store.contract.ts';
import { openRedisSubject } from './open-entry-stores.ts';
import { deleteEntry, keyOf, makeEntry } from './stored-entries.ts';

/** What a busy test machine may add to a bounded wait. */
const SLACK_MS = 400;

describeWithRedis('contract', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  describeEntryStore('redis', (clock) => openRedisSubject(server.url, clock));
  describeBodyClaims('redis', (clock) => openRedisSubject(server.url, clock));
});

describeWithRedis('in operation', () => {
  let server: RedisServer;
  let stores: EntryStore[];
  let warnings: RedisStoresWarning[];
  beforeEach(() => {
    stores = [];
    warnings = [];
  });
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await server.stop();
  });

  const start = async (args: string[] = []): Promise<Redis> => {
    server = await startRedisServer({ args });
    return new Redis(server.url, { lazyConnect: true });
  };
  const openStore = async (url = server.url): Promise<EntryStore> => {
    const onWarning = (warning: RedisStoresWarning): void => void warnings.push(warning);
    const { entries } = await connectRedisStores(
      { kind: 'single', url },
      { clock: systemClock, onWarning, bodies: null },
    );
    stores.push(entries);
    return entries;
  };
  const expectRecovery = async (store: EntryStore): Promise<void> => {
    const entry = makeEntry();
    await waitUntil('Redis answers again', async () => (await store.check()).state === 'done');
    expect(await store.put(keyOf(entry), entry)).toMatchObject({ state: 'done' });
    expect(await store.get(keyOf(entry))).toMatchObject({ state: 'found', value: entry });
    await waitUntil('all of Redis is used again', () => warnings.length > 1);
    expect(warnings.map((warning) => warning.kind)).toEqual([
      'redis_unavailable',
      'redis_recovered',
    ]);
  };

  test('the value is one JSON string that Redis itself expires', async () => {
    const raw = await start();
    const store = await openStore();
    const entry = makeEntry();
    await store.put(keyOf(entry), entry);
    expect(JSON.parse((await raw.get(keyOf(entry))) ?? '')).toEqual(entry);
    expect(await raw.pexpiretime(keyOf(entry))).toBe(entry.deleteAt);
    await raw.quit();
  });

  test('a value of another type is dropped and reported', async () => {
    const raw = await start();
    const store = await openStore();
    const key = keyOf(makeEntry());
    await raw.hset(key, 'url', 'https://example.com/');
    expect(await store.get(key)).toEqual({ state: 'damaged', reason: 'wrong_type' });
    expect(await raw.exists(key)).toBe(0);
    await raw.quit();
  });

  test('listing scans, with the pattern escaped, and never says KEYS', async () => {
    const raw = await start();
    const store = await openStore();
    await raw.set('cache:1:1:not-a-key', 'x');
    await store.put(keyOf(makeEntry()), makeEntry());
    const pages = [];
    for await (const page of store.keys({ hostId: 1 })) pages.push(page);
    expect(pages).toEqual([{ state: 'done', value: [keyOf(makeEntry())] }]);
    const stats = await raw.info('commandstats');
    expect(stats).toContain('cmdstat_scan');
    expect(stats).not.toContain('cmdstat_keys');
    await raw.quit();
  });

  test('down at start: unavailable at once, and it recovers by itself', async () => {
    await start();
    await server.kill();
    const store = await openStore();
    await expectAllUnavailable(store, SLACK_MS);
    server = await startRedisServer({ port: server.port });
    await expectRecovery(store);
  });

  test('killed while running, and started again', async () => {
    await start();
    const store = await openStore();
    expect(await store.check()).toMatchObject({ state: 'done' });
    await server.kill();
    await expectAllUnavailable(store, LIMITS.storeTimeoutMs + SLACK_MS);
    server = await startRedisServer({ port: server.port });
    await expectRecovery(store);
  });

  test('frozen: one timeout a call, soon none at all, and it recovers', async () => {
    await start();
    const store = await openStore();
    expect(await store.check()).toMatchObject({ state: 'done' });
    server.pause();
    const burst = await Promise.all(Array.from({ length: 200 }, () => timeOf(() => store.check())));
    expect(Math.max(...burst)).toBeLessThan(LIMITS.storeTimeoutMs + SLACK_MS);
    const { elapsedMs } = await measure(async () => {
      for (let i = 0; i < 1_000; i += 1) {
        expect(await store.get(keyOf(makeEntry()))).toMatchObject({ state: 'unavailable' });
      }
    });
    expect(elapsedMs).toBeLessThan(1_000);
    server.resume();
    await expectRecovery(store);
  });

  test('a stall of our own is not taken for a Redis that fails', async () => {
    await start();
    const store = await openStore();
    const entry = makeEntry();
    await store.put(keyOf(entry), entry);
    const answers = Array.from({ length: 10 }, () => store.get(keyOf(entry)));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * LIMITS.storeTimeoutMs);
    for (const found of await Promise.all(answers)) expect(found.state).toBe('found');
    expect(warnings).toEqual([]);
  });

  test('slow by half a second: given up, and back when it is fast again', async () => {
    await start();
    const relay = await startRelay(server.port);
    const store = await openStore(`redis://127.0.0.1:${relay.port}`);
    expect(await store.check()).toMatchObject({ state: 'done' });
    relay.delayMs = 500;
    await waitUntil('the breaker opens', async () => {
      const { elapsedMs, value } = await measure(() => store.check());
      expect(value).toMatchObject({ state: 'unavailable' });
      expect(elapsedMs).toBeLessThan(LIMITS.storeTimeoutMs + SLACK_MS);
      return warnings.length === 1;
    });
    relay.delayMs = 0;
    await expectRecovery(store);
    relay.server.close();
  });

  test('out of memory: writing is unavailable, reading and deleting go on', async () => {
    const raw = await start(['--maxmemory', '4mb', '--maxmemory-policy', 'noeviction']);
    const store = await openStore();
    const entry = makeEntry();
    await store.put(keyOf(entry), entry);
    await raw.set('filler', 'x'.repeat(3_000_000)).catch(() => undefined);
    await raw.config('SET', 'maxmemory', '1mb');
    const refused = { state: 'unavailable', reason: 'oom' };
    for (let i = 0; i < 10; i += 1) expect(await store.put(keyOf(entry), entry)).toEqual(refused);
    expect(await store.get(keyOf(entry))).toMatchObject({ state: 'found', value: entry });
    expect(await deleteEntry(store, keyOf(entry))).toEqual({ state: 'done', value: true });
    await raw.config('SET', 'maxmemory', '100mb');
    expect(await store.put(keyOf(entry), entry)).toMatchObject({ state: 'done' });
    await raw.quit();
  });

  test('a replica: writing is unavailable, reading goes on', async () => {
    const raw = await start();
    const store = await openStore();
    const entry = makeEntry();
    await store.put(keyOf(entry), entry);
    await raw.replicaof('127.0.0.1', '1');
    expect(await store.put(keyOf(entry), entry)).toEqual({
      state: 'unavailable',
      reason: 'readonly',
    });
    expect(await store.get(keyOf(entry))).toMatchObject({ state: 'found' });
    await raw.quit();
  });

  test('with a password: the right one works, a wrong one is never shown', async () => {
    server = await startRedisServer({ args: ['--requirepass', 'open-sesame'] });
    const { host } = new URL(server.url);
    const good = await openStore(`redis://:open-sesame@${host}`);
    expect(await good.check()).toMatchObject({ state: 'done' });
    const bad = await openStore(`redis://:hunter2-secret@${host}`);
    const none = await openStore();
    expect(await bad.check()).toMatchObject({ state: 'unavailable' });
    expect(await none.check()).toMatchObject({ state: 'unavailable' });
    expect(warnings).toEqual([
      { kind: 'redis_unavailable', server: host, use: 'commands', reason: 'wrongpass' },
      { kind: 'redis_unavailable', server: host, use: 'commands', reason: 'noauth' },
    ]);
    expect(JSON.stringify([warnings, await bad.check()])).not.toContain('hunter2');
  });
});

describe('names of Redis errors', () => {
  test.each([
    ['OOM command not allowed', 'oom'],
    ['WRONGPASS invalid username-password pair', 'wrongpass'],
    ['MOVED 3999 127.0.0.1:6381', 'moved'],
    ['LOADING Redis is loading the dataset in memory', 'loading'],
    ["ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'default' 's3cret'", 'err'],
    ['s3cret', 'err'],
  ])('%s is %s', (message, word) => {
    const error = Object.assign(new Error(message), { name: 'ReplyError' });
    expect(describeRedisError(error)).toBe(word);
  });

  test.each([
    [Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'econnrefused'],
    [new Error('Command timed out'), 'timeout'],
    [new Error('Connection is closed.'), 'disconnected'],
    ['s3cret', 'unknown'],
  ])('%s is %s', (error, word) => {
    expect(describeRedisError(error)).toBe(word);
  });
});

test.each([
  ['cache:1:', 'cache:1:'],
  ['cache:1*', String.raw`cache:1\*`],
  ['a?[b]^-\\', String.raw`a\?\[b\]\^\-\\`],
])('%s is escaped as %s', (text, escaped) => {
  expect(escapeGlob(text)).toBe(escaped);
});

async function expectAllUnavailable(store: EntryStore, withinMs: number): Promise<void> {
  const entry = makeEntry();
  const calls = [
    () => store.get(keyOf(entry)),
    () => store.put(keyOf(entry), entry),
    () => store.delete(keyOf(entry), encodeEntry(entry)),
    () => store.check(),
  ];
  for (const call of calls) {
    const { value, elapsedMs } = await measure<{ readonly state: string }>(call);
    expect(value.state).toBe('unavailable');
    expect(elapsedMs).toBeLessThan(withinMs);
  }
  for await (const page of store.keys({ hostId: 1 })) expect(page.state).toBe('unavailable');
}

async function measure<T>(call: () => Promise<T>): Promise<{ value: T; elapsedMs: number }> {
  const startedAt = performance.now();
  const value = await call();
  return { value, elapsedMs: performance.now() - startedAt };
}

async function timeOf(call: () => Promise<unknown>): Promise<number> {
  return (await measure(call)).elapsedMs;
}

interface Relay {
  delayMs: number;
  readonly port: number;
  readonly server: Server;
}

/** A relay before Redis that holds its answers back. */
async function startRelay(redisPort: number): Promise<Relay> {
  const server = createServer((client) => {
    const redis = connect(redisPort, '127.0.0.1');
    client.pipe(redis);
    redis.on('data', (chunk) => setTimeout(() => client.write(chunk), relay.delayMs));
    redis.on('error', () => client.destroy());
    client.on('error', () => redis.destroy());
    client.on('close', () => redis.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const relay: Relay = { delayMs: 0, port, server };
  return relay;
}
