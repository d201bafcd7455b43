import { defineConfig } from 'vitest/config';
import { SOURCE_FLAGS } from '../support/node-flags.ts';

/** The WebDAV test suite "litmus" of Debian against the folder of snapshots. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['**/*.test.ts'],
    pool: 'forks',
    execArgv: [...SOURCE_FLAGS],
    fileParallelism: false,
    maxWorkers: 1,
    disableConsoleIntercept: true,
    reporters: ['verbose'],
    testTimeout: 600_000,
    // The packages are fetched the first time.
    hookTimeout: 900_000,
  },
});
