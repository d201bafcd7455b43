import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongFilesFirst } from './support/long-files-first.ts';
import { SOURCE_FLAGS } from './support/node-flags.ts';

// Each file has a process of its own: packages need not be compiled anew in every one.
process.env['NODE_COMPILE_CACHE'] ??= join(
  tmpdir(),
  `holdfast-test-cache-${process.getuid?.() ?? 0}`,
  'tests',
);

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['**/*.test.{ts,tsx}'],
    // Hours, not minutes: npm run test:sweep. Real servers and browsers: npm run test:destinations, test:partner, test:browser,
    // test:recover.
    exclude: ['sweep/**', 'destinations/**', 'partner/**', 'browser/**', 'recover/**', '**/node_modules/**'],
    pool: 'forks',
    execArgv: [...SOURCE_FLAGS],
    // One more than the cores of a small machine: many tests wait for programs of their own.
    maxWorkers: 3,
    sequence: { sequencer: LongFilesFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
