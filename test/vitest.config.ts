import { defineConfig } from 'vitest/config';
import { SOURCE_FLAGS } from './support/node-flags.ts';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['**/*.test.ts'],
    // Hours, not minutes: npm run test:sweep. Real servers: npm run test:destinations.
    exclude: ['sweep/**', 'destinations/**', '**/node_modules/**'],
    pool: 'forks',
    execArgv: [...SOURCE_FLAGS],
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
