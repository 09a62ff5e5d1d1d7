// The package as it is published: what it exports, its types, and the README's examples of the
// library, run and type-checked in a project that has it installed.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBlocks } from '../docs/markdown.ts';
import { readFile } from '../tidy/files.ts';
import { type BuiltPackage, buildPackage } from './build-package.ts';

const TYPESCRIPT_USER = `import { createNormalizer, type Normalizer } from 'edge-gateway/normalizer';
const normalizer: Normalizer = await createNormalizer({
  tracking_params: { params_add: ['sid'], presets: ['click_ids'] },
  normalization: { sort_query: false, encoding: 'preserve' },
});
const result = normalizer.normalize('/a', 'https://example.com/');
export const told: string | undefined = result.ok
  ? [result.url, result.hash, result.stripped[0]?.name, result.trace[0]?.step].join(' ')
  : result.error;
// @ts-expect-error: no such option
await createNormalizer({ normalisation: {} });
`;

const README = readFile('README.md');
const [example] = findBlocks(README, 'ts').map(({ text }) => text);
const [commonJs] = findBlocks(README, 'js').map(({ text }) => text);

let built: BuiltPackage;
beforeAll(() => {
  built = buildPackage();
}, 120_000);
afterAll(() => built.remove());

/** What Node, or a program for it, says in the project. */
function runNode(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: built.project,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('the package', () => {
  test('exports the normalizer and nothing else', async () => {
    expect(Object.keys(Object(await built.load('edge-gateway/normalizer')))).toEqual([
      'createNormalizer',
    ]);
    for (const name of ['edge-gateway', 'edge-gateway/dist/cli/main.js']) {
      const code = 'ERR_PACKAGE_PATH_NOT_EXPORTED';
      await expect(built.load(name)).rejects.toMatchObject({ code });
    }
  });

  test('has the command', () => {
    const { bin, version } = JSON.parse(readFile('package.json')) as {
      readonly bin: Readonly<Record<string, string>>;
      readonly version: string;
    };
    const program = join('node_modules/edge-gateway', bin['edge-gateway'] ?? '');
    const stdout = expect.stringContaining(version);
    expect(runNode(program, '--version')).toEqual({ status: 0, stdout, stderr: '' });
  });

  // Without the types of Node or of any library: what is published needs none.
  test('has types that a strict user compiles with, and so does the README’s example', () => {
    expect(example).toContain('edge-gateway/normalizer');
    writeFileSync(join(built.project, 'user.mts'), TYPESCRIPT_USER);
    writeFileSync(join(built.project, 'example.mts'), example ?? '');
    const compiler = 'node_modules/edge-gateway/node_modules/typescript/bin/tsc';
    const options = '--noEmit --strict --module nodenext --target es2023'.split(' ');
    const done = runNode(compiler, ...options, 'user.mts', 'example.mts');
    expect(done).toEqual({ status: 0, stdout: '', stderr: '' });
  });
});

describe('the examples of the README', () => {
  test.each([
    ['example.mjs', example ?? ''],
    ['example.cjs', commonJs ?? ''],
  ])('%s prints what its comments say, and no warning', (name, text) => {
    const expected = [...text.matchAll(/^ *\/\/ (.*)$/gm)].map(([, line]) => line);
    expect(expected.length).toBeGreaterThan(0);
    writeFileSync(join(built.project, name), text);
    const { stdout, stderr } = runNode(name);
    expect(stderr).toBe('');
    expect(stdout.trimEnd().split('\n')).toEqual(expected);
  });
});
