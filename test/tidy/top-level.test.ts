// What lies at the top of the repository is fixed; everything else has its place below.
import { expect, test } from 'vitest';
import { isThere, listFiles } from './files.ts';

const PRODUCT = [
  'Dockerfile',
  'config',
  'edge-gateway.yaml',
  'hosts.yaml',
  'package.json',
  'src',
  'test',
];
const SATELLITES = [
  '.ci',
  '.dockerignore',
  '.gitignore',
  '.npmrc',
  '.oxlintrc.json',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'biome.json',
  'package-lock.json',
  'tsconfig.build.json',
  'tsconfig.json',
];

test('the product is there', () => {
  expect(PRODUCT.filter((name) => !isThere(name))).toEqual([]);
});

test('nothing else is there', () => {
  const present = new Set(listFiles().map((file) => file.split('/')[0] ?? ''));
  expect([...present].filter((name) => ![...PRODUCT, ...SATELLITES].includes(name))).toEqual([]);
});
