// How the tests run. Two workers, because the smallest supported machine has two cores and the
// suites start real servers; the time limits leave room for such a machine being busy. In CI a test
// that failed runs once more: its machines are shared, and a browser that was starved of time for a
// second is not a defect. One that fails twice is.
import process from 'node:process';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup/build-program.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    retry: process.env['CI'] === undefined ? 0 : 1,
    teardownTimeout: 10_000,
    globals: false,
    allowOnly: false,
    passWithNoTests: false,
    reporters: ['default'],
  },
});
