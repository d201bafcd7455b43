import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { SOURCE_FLAGS } from '../support/node-flags.ts';

/**
 * Everything of the Partner service that stands on a store, on a real PostgreSQL: tests of the store itself on SQLite too,
 * and what only several processes can show.
 */
export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..'),
    include: [
      'partner/**/*.test.ts',
      'unit/partner/**/*.test.ts',
      '{contract,security,property,scenario}/partner-*.test.ts',
      'scenario/{agent-partner-service,cli-partner,readme-partner}.test.ts',
    ],
    globalSetup: [join(import.meta.dirname, 'postgres-server.ts')],
    env: { HOLDFAST_PROGRAM: 'holdfast' },
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
