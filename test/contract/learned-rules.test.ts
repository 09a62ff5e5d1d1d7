// The LearnedRules contract over both adapters, and what only one of them promises.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmbeddedLearnedRules } from '../../src/adapters/embedded/create-embedded-learned-rules.ts';
import { openEmbedded } from '../../src/adapters/embedded/open-embedded.ts';
import { createRedisLearnedRules } from '../../src/adapters/redis/create-redis-learned-rules.ts';
import type { Clock, Done } from '../../src/pipeline/ports.ts';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { waitUntil } from '../helpers/wait-until.ts';
import {
  describeLearnedRules,
  type LearnedRulesSubject,
  makeRule,
  nameOf,
} from './learned-rules.contract.ts';
import { createTestClock } from './test-clock.ts';

const RULE = makeRule('/a');

async function openEmbeddedSubject(): Promise<LearnedRulesSubject> {
  const basePath = mkdtempSync(join(tmpdir(), 'edge-gateway-learned-'));
  const options = { basePath, clock: createTestClock(), onWarning: () => undefined };
  const opened = [openEmbedded(options), openEmbedded(options)] as const;
  const [one, other] = opened;
  return {
    one: createEmbeddedLearnedRules(one),
    other: createEmbeddedLearnedRules(other),
    start: async () => createEmbeddedLearnedRules(one),
    plant: async (values) => {
      await one.environment.transaction(() => {
        for (const [name, text] of Object.entries(values)) {
          void one.environment.put(`learned:${name}`, text);
        }
      });
    },
    dispose: async () => {
      for (const { environment } of opened) await environment.close();
      rmSync(basePath, { recursive: true, force: true });
    },
  };
}

describe('embedded', () => {
  describeLearnedRules(openEmbeddedSubject);

  test('what one process learns every other one knows at once', async () => {
    const subject = await openEmbeddedSubject();
    await subject.one.learn(RULE);
    expect(subject.other.current().get(nameOf(RULE))).toEqual(RULE);
    await subject.other.forget(1, RULE.address);
    expect(subject.one.current().size).toBe(0);
    await subject.dispose();
  });
});

describeWithRedis('redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  async function openRedisSubject(clock: Clock): Promise<LearnedRulesSubject> {
    const redis = new Redis(server.url);
    await redis.flushall();
    const connection = {
      run: async <T>(_key: string, command: (client: Redis) => Promise<T>): Promise<Done<T>> => ({
        state: 'done',
        value: await command(redis),
      }),
    };
    const start = () => createRedisLearnedRules(connection, clock);
    return {
      one: await start(),
      other: await start(),
      start,
      plant: async (values) => void (await redis.hset('learned', values)),
      dispose: async () => void (await redis.quit()),
    };
  }

  describeLearnedRules(() => openRedisSubject(createTestClock()));

  test('what another machine learns is known a second later, and nobody waited for it', async () => {
    const clock = createTestClock();
    const subject = await openRedisSubject(clock);
    await subject.one.learn(RULE);
    clock.advance(999);
    expect(subject.other.current().size).toBe(0);
    clock.advance(1);
    await waitUntil('it is known', () => subject.other.current().size === 1);
    await subject.dispose();
  });

  test('a store that was lost is an empty one', async () => {
    const subject = await openRedisSubject(createTestClock());
    await subject.one.learn(RULE);
    const redis = new Redis(server.url);
    await redis.flushall();
    await redis.quit();
    expect(await subject.one.refresh()).toMatchObject({ state: 'done' });
    expect(subject.one.current().size).toBe(0);
    await subject.dispose();
  });
});
