// The program as it ships; built before the tests by test/setup/build-program.ts.
import { fileURLToPath } from 'node:url';

export const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
