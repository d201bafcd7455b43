import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { defineConfig } from 'vitest/config';
import { CODE_CACHE } from './support/code-cache.ts';
import { LongFilesFirst } from './support/long-files-first.ts';
import { SOURCE_FLAGS } from './support/node-flags.ts';

process.env['NODE_COMPILE_CACHE'] ??= CODE_CACHE;

// Hours, not minutes: npm run test:sweep. Real servers and browsers: npm run test:destinations, test:partner, test:browser,
// test:recover.
const ELSEWHERE = [
  'sweep/**',
  'destinations/**',
  'partner/**',
  'browser/**',
  'recover/**',
  '**/node_modules/**',
];
const TESTS = '**/*.test.{ts,tsx}';
const SHARED = ['unit', 'property', 'contract', 'security', 'scenario', 'fault'];
/** What would stay for the next file: modules that were replaced, and what belongs to the whole process. */
const CHANGES_ITS_PROCESS = /\bvi\.mock\(|\bprocess\.(?:chdir|umask|on)\(/;
const shared = SHARED.flatMap((folder) =>
  filesIn(folder).filter((path) => !CHANGES_ITS_PROCESS.test(contentOf(path))),
);

function filesIn(folder: string): readonly string[] {
  return readdirSync(join(import.meta.dirname, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.test\.tsx?$/.test(entry.name))
    .map((entry) => relative(import.meta.dirname, join(entry.parentPath, entry.name)).replaceAll(sep, '/'));
}

function contentOf(path: string): string {
  return readFileSync(join(import.meta.dirname, path), 'utf8');
}

export default defineConfig({
  test: {
    root: import.meta.dirname,
    // A process for each of them would take longer than most of them do.
    projects: [
      { extends: true, test: { name: 'own process', include: [TESTS], exclude: [...ELSEWHERE, ...shared] } },
      { extends: true, test: { name: 'shared process', include: [...shared], isolate: false } },
    ],
    exclude: ELSEWHERE,
    pool: 'forks',
    execArgv: [...SOURCE_FLAGS],
    // One more than the cores of a small machine: many tests wait for programs of their own.
    maxWorkers: 3,
    sequence: { sequencer: LongFilesFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
