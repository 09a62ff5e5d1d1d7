// Changes on a real disk: written, replaced, swapped, removed, added; and what is no change.
import { mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { watchConfig } from '../../src/config/watch-config.ts';
import { withFolder } from './helpers.ts';

const TIMES = { debounceMs: 20, lookAroundMs: 100 };
const DEADLINE_MS = 10_000;

async function waitUntil(isMet: () => boolean): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!isMet()) {
    if (performance.now() > deadline) throw new Error('nothing happened');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const CHANGES: readonly (readonly [string, (folder: string) => Promise<void>])[] = [
  ['a file written in place', (folder) => writeFile(join(folder, 'a.yaml'), 'changed')],
  ['a file cut off', (folder) => truncate(join(folder, 'a.yaml'), 1)],
  ['a file removed', (folder) => rm(join(folder, 'a.yaml'))],
  ['a file added beside it', (folder) => writeFile(join(folder, 'new.yml'), '')],
  [
    'a file replaced, as editors do',
    async (folder) => {
      await writeFile(join(folder, 'a.yaml~'), 'one');
      await rename(join(folder, 'a.yaml~'), join(folder, 'a.yaml'));
    },
  ],
  [
    'a file replaced by a folder',
    async (folder) => {
      await rm(join(folder, 'a.yaml'));
      await mkdir(join(folder, 'a.yaml'));
    },
  ],
  [
    'a symlink above it swapped, as Kubernetes does',
    async (folder) => {
      await symlink('v2', join(folder, 'next'));
      await rename(join(folder, 'next'), join(folder, 'current'));
    },
  ],
];

test.each(CHANGES)('%s', async (_name, change) => {
  const files = { 'a.yaml': 'one', 'v1/b.yaml': 'one', 'v2/b.yaml': 'two' };
  await withFolder(files, async (folder) => {
    await symlink('v1', join(folder, 'current'));
    await symlink('current/b.yaml', join(folder, 'b.yaml'));
    let changes = 0;
    const watcher = watchConfig(
      [join(folder, 'a.yaml'), join(folder, 'b.yaml')],
      () => {
        changes += 1;
      },
      TIMES,
    );
    try {
      await watcher.ready;
      await change(folder);
      await waitUntil(() => changes > 0);
    } finally {
      watcher.close();
    }
  });
});

test('unrelated files are no change, and nothing comes after close', async () => {
  await withFolder({ 'a.yaml': 'one' }, async (folder) => {
    let changes = 0;
    const watcher = watchConfig([join(folder, 'a.yaml')], () => void (changes += 1), TIMES);
    await watcher.ready;
    await writeFile(join(folder, 'log.txt'), 'x');
    await writeFile(join(folder, 'a.yaml'), 'two');
    await waitUntil(() => changes > 0);
    expect(changes).toBe(1);
    watcher.close();
    await writeFile(join(folder, 'a.yaml'), 'three');
    // A second watcher that sees the change proves that the first had its chance.
    let others = 0;
    const other = watchConfig([join(folder, 'a.yaml')], () => void (others += 1), TIMES);
    await other.ready;
    await writeFile(join(folder, 'a.yaml'), 'four!');
    await waitUntil(() => others > 0);
    other.close();
    expect(changes).toBe(1);
  });
});

test('many changes at once are one, and a constant stream of them is not waited out', async () => {
  await withFolder({ 'a.yaml': '0' }, async (folder) => {
    let changes = 0;
    const watcher = watchConfig([join(folder, 'a.yaml')], () => void (changes += 1), {
      debounceMs: 50,
      lookAroundMs: 60_000,
    });
    await watcher.ready;
    let writes = 0;
    while (changes === 0 && writes < 5_000) {
      writes += 1;
      await writeFile(join(folder, 'a.yaml'), `${'x'.repeat(writes % 7)}${writes}`);
    }
    watcher.close();
    expect(changes).toBe(1);
    expect(writes).toBeGreaterThan(1);
  });
});
