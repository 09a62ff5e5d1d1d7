// How the tests run. Two workers, because the smallest supported machine has two cores and the
// suites start real servers; the time limits leave room for such a machine being busy.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
    globals: false,
    allowOnly: false,
    passWithNoTests: false,
    reporters: ['default'],
  },
});
