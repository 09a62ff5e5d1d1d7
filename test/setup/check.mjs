// `npm run check`: all that can be said without running the product.
import { runChecks } from './checks.mjs';
import { ensurePackages } from './packages.mjs';
import { report, runTests } from './tests.mjs';

await ensurePackages();
const checks = await runChecks();
process.exitCode = report(checks, await runTests(['test/tidy']));
