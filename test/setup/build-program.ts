// Brings the built program up to its sources before the tests: tests that start processes of it
// start what ships, which is also twice as fast. One file at a time, and only those that have
// changed: a whole build took longer than most suites, and every run waited for it. The types are
// checked by a check of its own.
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCES = join(ROOT, 'src');

/** Called by vitest. */
export function setup(): void {
  const file = join(ROOT, 'tsconfig.build.json');
  const { config } = ts.readConfigFile(file, (path) => ts.sys.readFile(path));
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  // Alone, a file does not know of the package that makes it a module.
  const compilerOptions = { ...options, declaration: false, module: ts.ModuleKind.ESNext };
  for (const source of fileNames) {
    const target = join(ROOT, 'dist', relative(SOURCES, source)).replace(/\.ts$/, '.js');
    if (writtenAt(target) < writtenAt(source)) compile(source, target, compilerOptions);
  }
}

function compile(fileName: string, target: string, compilerOptions: ts.CompilerOptions): void {
  const text = readFileSync(fileName, 'utf8');
  const { outputText, sourceMapText } = ts.transpileModule(text, { fileName, compilerOptions });
  mkdirSync(dirname(target), { recursive: true });
  replaceFile(`${target}.map`, sourceMapText ?? '');
  replaceFile(target, outputText);
}

/** Whole at every moment: another run may be starting the program. */
function replaceFile(path: string, text: string): void {
  const aside = `${path}.${process.pid}`;
  writeFileSync(aside, text);
  renameSync(aside, path);
}

/** 0 for no file. */
function writtenAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
