// Inventory and usage book of the embedded store.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmbeddedEntryStore } from '../../src/adapters/embedded/create-embedded-entry-store.ts';
import { createEmbeddedInventory } from '../../src/adapters/embedded/create-embedded-inventory.ts';
import { createEmbeddedUsageBook } from '../../src/adapters/embedded/create-embedded-usage-book.ts';
import { type Embedded, openEmbedded } from '../../src/adapters/embedded/open-embedded.ts';
import type { Clock } from '../../src/pipeline/ports.ts';
import { describeInventory, type InventorySubject } from './inventory.contract.ts';
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
