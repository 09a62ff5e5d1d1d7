// The static checks: scripts of package.json, each with one exit status.
import { runNpm } from './packages.mjs';

const CHECKS = [
  'check:format',
  'check:lint',
  'check:types',
  'check:layers',
  'check:dead-code',
  'build',
];

/**
 * Runs every check, also after one has failed.
 * @returns {Promise<{name: string, passed: boolean}[]>} one result a check, in order.
 */
export async function runChecks() {
  const results = [];
  for (const name of CHECKS) {
    console.log(`\n== npm run ${name}`);
    const status = await runNpm(['run', '--silent', name]);
    results.push({ name, passed: status === 0 });
  }
  return results;
}
