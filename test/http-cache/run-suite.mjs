// Runs the public suite http-cache-tests against a gateway, once a process because the suite keeps
// its results to itself, and judges it by its own rule: a test counts only when those it depends on
// pass too. Surrogate-Control, which is no standard, is not part of the count.
import { getResults, runTests } from 'http-cache-tests/client/runner.mjs';
import { determineTestResult } from 'http-cache-tests/lib/display.mjs';
import suites from 'http-cache-tests/tests/index.mjs';
import { plainFetch } from './plain-fetch.mjs';

/** What the suite's symbols mean. */
const VERDICTS = {
  '✅': 'pass',
  '⛔️': 'fail',
  '⚠️': 'fail',
  Y: 'yes',
  N: 'no',
  '🔹': 'setup_fail',
  '⁉️': 'harness_fail',
  '⚪️': 'dependency_fail',
  '↻': 'retry',
  '-': 'untested',
};

/**
 * @param {string} baseUrl of the gateway, without a slash at its end
 * @returns {Promise<readonly {
 *   id: string; name: string; kind: string; verdict: string; detail: string;
 * }[]>}
 */
export async function runSuite(baseUrl) {
  await runTests(suites, plainFetch, false, baseUrl);
  const results = getResults();
  return suites
    .flatMap((suite) => suite.tests)
    .filter((test) => test.browser_only !== true)
    .map((test) => ({
      id: test.id,
      name: test.name,
      kind: test.kind ?? 'required',
      verdict: VERDICTS[determineTestResult(suites, test.id, results)[2]] ?? 'unknown',
      detail: Array.isArray(results[test.id]) ? results[test.id].join(': ') : '',
    }));
}
