// Builds the program once before the tests when a source is newer than the build: tests that start
// processes of it start what ships, which is also twice as fast.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Called by vitest. */
export function setup(): void {
  if (newestIn('src') < newestIn('dist')) return;
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const built = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(`the build failed:\n${built.stdout}${built.stderr}`);
}

/** When the newest file of a folder was written; 0 for no folder. */
function newestIn(folder: string): number {
  const path = join(ROOT, folder);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return 0;
  const times = readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs);
  return Math.max(0, ...times);
}
