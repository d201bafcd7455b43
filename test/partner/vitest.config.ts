import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { SOURCE_FLAGS } from '../support/node-flags.ts';

/** What the store of the Partner service promises, on a real PostgreSQL beside SQLite. */
export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..'),
    include: [
      'partner/**/*.test.ts',
      'unit/partner/store/**/*.test.ts',
      'unit/partner/webhooks/delivering.test.ts',
    ],
    globalSetup: [join(import.meta.dirname, 'postgres-server.ts')],
    pool: 'forks',
    execArgv: [...SOURCE_FLAGS],
    fileParallelism: false,
    maxWorkers: 1,
    reporters: ['verbose'],
    testTimeout: 120_000,
    // Installing the server takes minutes the first time.
    hookTimeout: 900_000,
  },
});
