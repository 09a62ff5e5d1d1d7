// What no file may contain, and how long files and lines may get.
import { describe, expect, test } from 'vitest';
import { listFiles, readFile } from './files.ts';

const FILE_LINES_MAX = 350;
const LINE_CHARS_MAX = 100;
const files = listFiles();
const written = files.filter((file) => file !== 'package-lock.json' && !file.endsWith('.png'));
const code = files.filter((file) => /\.(ts|mjs)$/.test(file));

/** Rule → the files it holds for. Words are taken apart, so that this file passes its own rules. */
const FORBIDDEN: readonly (readonly [string, RegExp, readonly string[]])[] = [
  [
    'unfinished work',
    new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].join('|')})\\b`),
    written,
  ],
  ['a path of one machine', new RegExp('(^|[^\\w./-])/(work|home/\\w+|root|Users)/'), written],
  ['a left-over of a merge', new RegExp(`^(${'<'.repeat(7)}|${'>'.repeat(7)}) `), written],
  ['a focused or skipped test', /\b(it|test|describe|suite)\.(only|skip|todo|fails)\b/, code],
  ['a default export', /^export default\b/, code.filter((file) => file.startsWith('src/'))],
  ['a suppressed type error', new RegExp(`@ts-(${'ignore'}|${'nocheck'})`), code],
  ['a line that is too long', new RegExp(`^.{${LINE_CHARS_MAX + 1}}`), files.filter(isProductCode)],
];

test('there are files to look at', () => {
  expect(written.length).toBeGreaterThan(50);
  expect(files).toContain('package.json');
});

describe('no file has', () => {
  test.each(FORBIDDEN)('%s', (_rule, pattern, among) => {
    expect(among.flatMap((file) => findLines(file, pattern))).toEqual([]);
  });
});

test(`no code file has more than ${FILE_LINES_MAX} lines`, () => {
  const tooLong = code
    .map((file) => [file, readFile(file).split('\n').length - 1] as const)
    .filter(([, lines]) => lines > FILE_LINES_MAX);
  expect(tooLong).toEqual([]);
});

test('every source file opens by saying what it owns', () => {
  expect(code.filter((file) => !/^(#!.*\n)?\/\//.test(readFile(file)))).toEqual([]);
});

function isProductCode(file: string): boolean {
  return file.startsWith('src/') && file.endsWith('.ts');
}

function findLines(file: string, pattern: RegExp): readonly string[] {
  return readFile(file)
    .split('\n')
    .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : []));
}
