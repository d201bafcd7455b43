import { defineConfig } from 'vitest/config';
import { SOURCE_FLAGS } from '../support/node-flags.ts';

/** Real servers, one test file after the other: each starts its own. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['**/*.test.ts'],
    env: { HOLDFAST_PROGRAM: 'holdfast' },
    pool: 'forks',
    execArgv: [...SOURCE_FLAGS],
    fileParallelism: false,
    maxWorkers: 1,
    // What waits for minutes waits beside the rest.
    maxConcurrency: 3,
    disableConsoleIntercept: true,
    reporters: ['verbose'],
    testTimeout: 600_000,
    // Installing a server takes minutes the first time.
    hookTimeout: 900_000,
  },
});
