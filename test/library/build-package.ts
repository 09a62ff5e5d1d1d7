// The package as a user gets it: built, packed by npm and unpacked below a folder of its own, resolved
// by name through the `exports` of package.json. What the tarball lacks, it lacks here.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
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

/** What `files` of package.json picks from, but for what is built. */
const SOURCES = ['package.json', 'config', 'README.md', 'CHANGELOG.md', 'LICENSE'];

/** Installs into `node_modules/edge-gateway` of an empty project; throws with what a tool said. */
export function buildPackage(): BuiltPackage {
  const folder = mkdtempSync(join(tmpdir(), 'edge-gateway-package-'));
  const [checkout, project] = [join(folder, 'checkout'), join(folder, 'project')];
  for (const name of SOURCES) cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  // The types are checked by a check of its own; here only the output matters.
  const options = ['-p', 'tsconfig.build.json', '--noCheck', '--outDir', join(checkout, 'dist')];
  runTool([process.execPath, compiler, ...options], ROOT);
  const packed = runTool('npm pack --ignore-scripts --offline --silent'.split(' '), checkout);
  const modules = join(project, 'node_modules');
  mkdirSync(modules, { recursive: true });
  runTool(['tar', '-xzf', join(checkout, packed.trim()), '-C', modules], project);
  const home = join(modules, 'edge-gateway');
  renameSync(join(modules, 'package'), home);
  symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'));
  const { resolve } = createRequire(join(project, 'index.js'));
  return {
    project,
    load: async (name) => (await import(pathToFileURL(resolve(name)).href)) as unknown,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function runTool([tool = '', ...args]: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(tool, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${tool} failed:\n${stdout}${stderr}`);
  return stdout;
}
