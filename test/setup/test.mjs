// `npm test`: sets everything up, then checks and tests. Arguments go to vitest, so that
// `npm test -- test/url` runs those tests alone.
import { runChecks } from './checks.mjs';
import { ensurePrograms } from './debian.mjs';
import { ensurePackages } from './packages.mjs';
import { report, runTests } from './tests.mjs';

await ensurePackages();
await ensurePrograms();
const checks = await runChecks();
process.exitCode = report(checks, await runTests(process.argv.slice(2)));
