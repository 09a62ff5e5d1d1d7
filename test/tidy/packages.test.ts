// The packages: pinned, explained in the README, and installable from whatever registry is set up.
import { expect, test } from 'vitest';
import { readFile } from './files.ts';

interface PackageFile {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readFile('package.json')) as PackageFile;
const running = { ...manifest.dependencies, ...manifest.optionalDependencies };
const all = { ...running, ...manifest.devDependencies };

test('every version is exact', () => {
  const loose = Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
  expect(loose).toEqual([]);
});

test('no package is both for running and for developing', () => {
  expect(Object.keys(running).filter((name) => name in manifest.devDependencies)).toEqual([]);
});

test('the README says in "Dependencies" what each is for', () => {
  const section = /^## Dependencies$([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(
    readFile('README.md'),
  )?.[1];
  const silent = Object.keys(all).filter((name) => !section?.includes(`\`${name}\``));
  expect(silent).toEqual([]);
});

interface LockedPackage {
  readonly integrity?: string;
  readonly inBundle?: boolean;
}

test('the lock file names no registry, and every package has its checksum', () => {
  const lock = readFile('package-lock.json');
  expect(lock).not.toMatch(/"resolved"|registry\./);
  const { packages } = JSON.parse(lock) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  // A bundled package comes inside of another, whose checksum covers it.
  const unchecked = Object.entries(packages).filter(
    ([path, { integrity, inBundle }]) => path && !integrity && inBundle !== true,
  );
  expect(unchecked).toEqual([]);
});

test('the npm settings name no registry', () => {
  expect(readFile('.npmrc')).not.toMatch(/registry\s*=|\/\//);
});
