// The memory tier: over both entry stores, and by itself under random load.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmbeddedEntryStore } from '../../src/adapters/embedded/create-embedded-entry-store.ts';
import { createEmbeddedPurgeLog } from '../../src/adapters/embedded/create-embedded-purge-log.ts';
import { openEmbedded } from '../../src/adapters/embedded/open-embedded.ts';
import type { ContentCoding, Entry } from '../../src/core/key/entry.ts';
import { createMemoryTier } from '../../src/pipeline/store/memory-tier.ts';
import { describeWithRedis, type RedisServer, startRedisServer } from '../helpers/redis-server.ts';
import { describeMemoryTier } from './memory-tier.contract.ts';
import { openRedisPair } from './open-redis-stores.ts';
import { keyOf, makeEntry } from './stored-entries.ts';

describeMemoryTier('the embedded store', async (clock) => {
  const basePath = mkdtempSync(join(tmpdir(), 'edge-gateway-embedded-'));
  const open = () => {
    const options = { basePath, clock, onWarning: () => undefined };
    const embedded = openEmbedded(options);
    const entries = createEmbeddedEntryStore(options, embedded);
    return { entries, purgeLog: createEmbeddedPurgeLog(embedded) };
  };
  const [ours, others] = [open(), open()];
  return {
    ours,
    others,
    dispose: async () => {
      await ours.entries.close();
      await others.entries.close();
      rmSync(basePath, { recursive: true, force: true });
    },
  };
});

describeWithRedis('memory', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  describeMemoryTier('redis', (clock) => openRedisPair(server.url, { clock }));
});

describe('what memory holds', () => {
  const bodyBytes = fc.oneof(fc.nat({ max: 2_000 }), fc.nat({ max: 60_000 }));
  const step = fc.record({
    page: fc.nat({ max: 30 }),
    version: fc.nat({ max: 2 }),
    coding: fc.constantFrom<ContentCoding>('identity', 'gzip', 'br'),
    bytes: bodyBytes,
    what: fc.constantFrom('hold', 'body', 'body', 'find', 'drop'),
  });
  const entryOf = (page: number, version: number): Entry =>
    makeEntry({ hash: page.toString(16).padStart(16, '0'), cachedAt: version }, 1_000);

  test('never more than its budget, and bodies only of the version that is held', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 300_000 }),
        fc.array(step, { maxLength: 200 }),
        (budget, steps) => {
          const tier = createMemoryTier(budget);
          for (const { page, version, coding, bytes, what } of steps) {
            const entry = entryOf(page, version);
            const key = keyOf(entry);
            if (what === 'hold') tier.hold(key, entry, version);
            if (what === 'body') {
              tier.holdBody(key, entry, coding, Buffer.alloc(bytes, version));
            }
            if (what === 'drop') tier.drop(key);
            const held = tier.find(key);
            const versionHeld = held?.entry.cachedAt ?? -1;
            for (const body of Object.values(held?.bodies ?? {})) {
              expect(body.every((byte) => byte === versionHeld)).toBe(true);
            }
            expect(tier.use().bytes).toBeLessThanOrEqual(budget);
          }
          let bytes = 0;
          for (let page = 0; page <= 30; page += 1) {
            const held = tier.find(keyOf(entryOf(page, 0)));
            for (const body of Object.values(held?.bodies ?? {})) bytes += body.length;
          }
          expect(bytes).toBeLessThanOrEqual(tier.use().bytes);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('the least recently used page goes first', () => {
    const tier = createMemoryTier(50_000);
    const holdPage = (page: number): void => {
      const entry = entryOf(page, 0);
      tier.hold(keyOf(entry), entry, 0);
      tier.holdBody(keyOf(entry), entry, 'identity', Buffer.alloc(3_000));
    };
    const isHeld = (page: number): boolean => tier.find(keyOf(entryOf(page, 0))) !== null;
    for (let page = 0; page < 8; page += 1) holdPage(page);
    for (let page = 8; page < 200; page += 1) {
      expect(isHeld(0)).toBe(true);
      holdPage(page);
    }
    expect([isHeld(1), isHeld(199)]).toEqual([false, true]);
  });
});
