// A page store over an empty entry store of either kind, and body files; shared by the suites of what
// stands on one. It has nothing to warn of: a warning fails the test.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createFileBodyStore } from '../../src/adapters/files/create-file-body-store.ts';
import { createHasher } from '../../src/adapters/xxhash/create-hasher.ts';
import { createPurgeJournal, type PurgeJournal } from '../../src/pipeline/purge/purge-journal.ts';
import { createPageStore, type PageStore } from '../../src/pipeline/store/page-store.ts';
import type { EntryStoreSubject } from './entry-store.contract.ts';
import { createDrafts, type MakeDraft } from './page-drafts.ts';
import { createTestClock, type TestClock } from './test-clock.ts';

export interface PagesSubject {
  readonly subject: EntryStoreSubject;
  readonly journal: PurgeJournal;
  readonly pages: PageStore;
  readonly draft: MakeDraft;
  /** Of all of these. */
  readonly clock: TestClock;
  readonly dispose: () => Promise<void>;
}

export async function openPages(
  openEntries: (clock: TestClock) => Promise<EntryStoreSubject>,
  memoryBytesMax: number,
): Promise<PagesSubject> {
  const basePath = mkdtempSync(join(tmpdir(), 'edge-gateway-pages-'));
  const clock = createTestClock();
  const hasher = await createHasher();
  const onWarning = (warning: unknown): never => expect.unreachable(JSON.stringify(warning));
  const subject = await openEntries(clock);
  const journal = createPurgeJournal(subject.purgeLog);
  const pages = createPageStore({
    entries: subject.store,
    bodies: await createFileBodyStore({ basePath, clock, hasher, onWarning }),
    journal,
    hasher,
    clock,
    memoryBytesMax,
    onEvent: onWarning,
  });
  return {
    subject,
    journal,
    pages,
    draft: createDrafts(hasher, clock),
    clock,
    dispose: async () => {
      await pages.drain();
      await subject.dispose();
      rmSync(basePath, { recursive: true, force: true });
    },
  };
}
