// The public suite http-cache-tests: how much of it passes, and that what does not is known, with
// the reason for each. The suite pauses for real seconds, so this takes about a minute.
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { measureSuite } from './measure-suite.ts';

const REQUIRED_MIN = 145;
const OPTIMAL_MIN = 70;

test('what has to pass passes, and every failure is accounted for', {
  timeout: 240_000,
}, async () => {
  const text = await readFile(new URL('known-failures.json', import.meta.url), 'utf8');
  const known: Record<string, string> = JSON.parse(text);
  const { results, failures, counts } = await measureSuite();
  expect(results.filter(({ kind }) => kind === 'required')).toHaveLength(157);
  expect(results.filter(({ kind }) => kind === 'optimal')).toHaveLength(86);
  const unknown = failures.filter(({ id }) => known[id] === undefined);
  expect(unknown).toEqual([]);
  const failed = new Set(failures.map(({ id }) => id));
  expect(Object.keys(known).filter((id) => !failed.has(id))).toEqual([]);
  expect(counts.required).toBeGreaterThanOrEqual(REQUIRED_MIN);
  expect(counts.optimal).toBeGreaterThanOrEqual(OPTIMAL_MIN);
});
