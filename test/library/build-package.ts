// The package as a user gets it: built and unpacked below a folder of its own, resolved by name
// through the `exports` of package.json.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export interface BuiltPackage {
  /** Where the user's own files are. */
  readonly project: string;
  /** Imports a module of the package by its public name. */
  readonly load: (name: string) => Promise<unknown>;
  readonly remove: () => void;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Builds into `node_modules/edge-gateway` of an empty project; throws with what tsc said. */
export function buildPackage(): BuiltPackage {
  const project = mkdtempSync(join(tmpdir(), 'edge-gateway-package-'));
  const home = join(project, 'node_modules/edge-gateway');
  mkdirSync(home, { recursive: true });
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  // The types are checked by a check of its own; here only the output matters.
  const options = ['-p', 'tsconfig.build.json', '--noCheck', '--outDir', join(home, 'dist')];
  const built = spawnSync(process.execPath, [compiler, ...options], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(`the build failed:\n${built.stdout}${built.stderr}`);
  for (const name of ['package.json', 'config']) {
    cpSync(join(ROOT, name), join(home, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'));
  const { resolve } = createRequire(join(project, 'index.js'));
  return {
    project,
    load: async (name) => (await import(pathToFileURL(resolve(name)).href)) as unknown,
    remove: () => rmSync(project, { recursive: true, force: true }),
  };
}
