import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { defineConfig } from 'vitest/config';
import { CODE_CACHE } from './support/code-cache.ts';
import { LongFilesFirst } from './support/long-files-first.ts';
import { SOURCE_FLAGS } from './support/node-flags.ts';
import { rests, turnOf } from './support/turns.ts';

process.env['NODE_COMPILE_CACHE'] ??= CODE_CACHE;

// Hours, not minutes: npm run test:sweep. Real servers, browsers and peers: npm run test:destinations, test:partner,
// test:browser, test:recover, test:litmus.
const ELSEWHERE = [
  'sweep/**',
  'destinations/**',
  'partner/**',
  'browser/**',
  'recover/**',
  'litmus/**',
  '**/node_modules/**',
];
const TESTS = '**/*.test.{ts,tsx}';
const SHARING = ['unit', 'property', 'contract', 'security', 'damage', 'fault', 'scenario'];
/** What a file puts in place of a module would stay for the next one, as its time zone would. */
const NOT_SHARING = /vi\.mock\(|process\.env\['TZ'\] =|dropCapabilities\(/;
/**
 * On account of the buffers of backups V8 collects everything, however small its heap is: 66 times in the tests of second
 * copies, 11 times with this, and a tenth less of the processor time of the tests of repositories.
 */
const COUNT_BUFFERS = '--external-memory-accounted-in-global-limit';
const turn = turnOf(process.argv.slice(2), process.env['HOLDFAST_TURN'], import.meta.dirname);
const sharing = SHARING.flatMap((folder) =>
  filesIn(folder).filter((path) => !NOT_SHARING.test(contentOf(path))),
);
const resting = [...SHARING, 'simulator', 'fuzz']
  .flatMap(filesIn)
  .filter((path) => rests(contentOf(path), turn));
if (turn !== 'all')
  process.stdout.write(
    `Turn ${turn} of 8: ${resting.length} files wait for another change. HOLDFAST_TURN=all runs everything.\n`,
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
    // A process for each of them would take a quarter of the time of small files, and half a second of the others'.
    projects: [
      {
        extends: true,
        test: {
          name: 'shared process',
          include: sharing.filter((path) => !resting.includes(path)),
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: 'own process', include: [TESTS], exclude: [...ELSEWHERE, ...sharing, ...resting] },
      },
    ],
    exclude: ELSEWHERE,
    pool: 'forks',
    // Commands in texts are compared by the plain name, wherever the tests lie.
    env: { TZ: 'UTC', HOLDFAST_PROGRAM: 'holdfast', HOLDFAST_TURN: String(turn) },
    execArgv: [...SOURCE_FLAGS, COUNT_BUFFERS],
    // One more than the cores of a small machine: many tests wait for programs of their own.
    maxWorkers: 3,
    sequence: { sequencer: LongFilesFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
