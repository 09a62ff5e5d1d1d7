// Runs vitest and counts from its JSON report, so that the last line and the exit status say what
// happened: a file that did not load, an error outside a test or no test at all is a failure.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, tool } from './run.mjs';

/** Runs the tests; `args` as vitest takes them. */
export async function runTests(args) {
  const folder = mkdtempSync(join(tmpdir(), 'edge-gateway-report-'));
  const file = join(folder, 'vitest.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  console.log('\n== tests: vitest');
  try {
    const config = ['run', '--config', 'test/vitest.config.ts'];
    const status = await run(tool('vitest'), [...config, ...reporters, ...args]);
    return countResults(status, readReport(file));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Prints the summary, `N passed, N failed` alone on its last line.
 * @returns {number} the exit status that says the same.
 */
export function report(checks, tests) {
  const passed = tests.passed + checks.filter((check) => check.passed).length;
  const bad = checks.filter((check) => !check.passed).map((check) => check.name);
  const failed = tests.failed + bad.length;
  console.log(`\nchecks: ${bad.length === 0 ? 'all passed' : `failed: ${bad.join(', ')}`}`);
  console.log(`tests: ${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped`);
  if (tests.note !== undefined) console.log(tests.note);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

/**
 * Counts what happened from vitest's status and report; `json` is null when there is none.
 * @returns {{passed: number, failed: number, skipped: number, note?: string | undefined}}
 */
export function countResults(status, json) {
  if (json === null) return failure(`vitest ended with status ${status} and left no report`);
  const unloaded = json.testResults.filter(
    (result) => result.status === 'failed' && !result.assertionResults.some(isFailed),
  ).length;
  const passed = json.numPassedTests;
  const failed = json.numFailedTests + unloaded;
  const skipped = json.numPendingTests + json.numTodoTests;
  if (passed + failed === 0) return failure('no test ran');
  if (failed > 0 || status === 0) return { passed, failed, skipped };
  return { passed, failed: 1, skipped, note: `vitest ended with status ${status}` };
}

function failure(note) {
  return { passed: 0, failed: 1, skipped: 0, note };
}

function isFailed(assertion) {
  return assertion.status === 'failed';
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}
