import { defineConfig } from 'vitest/config';
import { SOURCE_FLAGS } from '../support/node-flags.ts';

const HOUR = 3_600_000;

/** The long sweeps: one after the other, with their progress on the terminal. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['**/*.test.ts'],
    env: { HOLDFAST_SWEEP: '1', HOLDFAST_PROGRAM: 'holdfast' },
    pool: 'forks',
    execArgv: [...SOURCE_FLAGS],
    fileParallelism: false,
    maxWorkers: 1,
    disableConsoleIntercept: true,
    reporters: ['verbose'],
    testTimeout: 3 * HOUR,
    hookTimeout: HOUR,
  },
});
