// Inventory and usage book of the embedded store.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createEmbeddedEntryStore } from '../../src/adapters/embedded/create-embedded-entry-store.ts';
import { createEmbeddedInventory } from '../../src/adapters/embedded/create-embedded-inventory.ts';
import { createEmbeddedUsageBook } from '../../src/adapters/embedded/create-embedded-usage-book.ts';
import { type Embedded, openEmbedded } from '../../src/adapters/embedded/open-embedded.ts';
import type { Clock } from '../../src/pipeline/ports.ts';
import { describeInventory, type InventorySubject } from './inventory.contract.ts';
import { keyOf, makeEntry } from './stored-entries.ts';
import { createTestClock } from './test-clock.ts';
import { describeUsageBook, type UsageBookSubject } from './usage-book.contract.ts';

describeInventory('embedded', async (clock): Promise<InventorySubject> => {
  const { embedded, options, dispose } = openFolder(clock);
  return {
    entries: createEmbeddedEntryStore(options, embedded),
    inventory: createEmbeddedInventory(embedded),
    plant: async (key, text) => void (await embedded.environment.put(key, text, 7)),
    dispose,
  };
});

describeUsageBook('embedded', async (clock): Promise<UsageBookSubject> => {
  const { embedded, options, dispose } = openFolder(clock);
  const other = openEmbedded(options);
  return {
    books: [createEmbeddedUsageBook(embedded), createEmbeddedUsageBook(other)],
    clear: () => embedded.environment.clearAsync(),
    dispose: async () => {
      await other.environment.close();
      await dispose();
    },
  };
});

test('many large entries are read with turns for others in between', async () => {
  const clock = createTestClock();
  const { embedded, options, dispose } = openFolder(clock);
  onTestFinished(dispose);
  const entries = createEmbeddedEntryStore(options, embedded);
  const headers = Array.from({ length: 90 }, (_, i) => [`x-${i}`, '\\"'.repeat(500)] as const);
  const keys: string[] = [];
  for (let i = 0; i < 125; i += 1) {
    const entry = makeEntry({ hash: String(i).padStart(16, '0'), headers }, clock.now());
    keys.push(keyOf(entry));
    await entries.put(keyOf(entry), entry);
  }
  let turns = 0;
  const count = (): void => {
    turns += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const read = await createEmbeddedInventory(embedded).read(keys);
  clearImmediate(counting);
  expect(read).toMatchObject({ state: 'done', value: { length: 125 } });
  expect(turns).toBeGreaterThan(1);
});

function openFolder(clock: Clock): {
  readonly embedded: Embedded;
  readonly options: Parameters<typeof openEmbedded>[0];
  readonly dispose: () => Promise<void>;
} {
  const basePath = mkdtempSync(join(tmpdir(), 'edge-gateway-upkeep-'));
  const options = { basePath, clock, onWarning: () => undefined };
  const embedded = openEmbedded(options);
  return {
    embedded,
    options,
    dispose: async () => {
      await embedded.environment.close();
      rmSync(basePath, { recursive: true, force: true });
    },
  };
}
