import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { SOURCE_FLAGS } from '../support/node-flags.ts';

/** Pages as a real browser shows them. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['**/*.test.ts'],
    globalSetup: [join(import.meta.dirname, 'chromium.ts')],
    env: { HOLDFAST_PROGRAM: 'holdfast' },
    pool: 'forks',
    execArgv: [...SOURCE_FLAGS],
    fileParallelism: false,
    maxWorkers: 1,
    reporters: ['verbose'],
    testTimeout: 120_000,
    // How soon a page changes is for the tests that measure it; a busy machine takes seconds.
    expect: { poll: { timeout: 15_000 } },
    // Fetching the browser takes minutes the first time.
    hookTimeout: 900_000,
  },
});
