/** The planted defects can still be planted, and docs/reliability/planted-defects.md lists them as they are. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { takesTurns } from '../support/turns.ts';
import { parseDefect, readDefects } from './defect.ts';
import { applyPatch, ROOT } from './scratch-copy.ts';
import { plantedPage } from './table.ts';

/**
 * The files that take more than six seconds each although they catch planted defects: one of eight changes runs them, and
 * every night. Together they are a third of the time of all tests, and catch one defect in ten.
 */
const TURNING = `contract/partner-api fault/killed-restore fault/watch-overflow property/init-races
  scenario/agent-asked-source scenario/agent-engine scenario/agent-maintenance scenario/agent-waiting scenario/agent-watch
  scenario/cli-streams scenario/copy scenario/hidden-tombstone scenario/rotten-pack scenario/write-only-host
  security/local-secrets security/local-web security/partner-console unit/destination/gcs/gcs
  unit/destination/rclone/commands unit/destination/s3/not-found unit/destination/s3/s3 unit/engine/copy-job
  unit/repository/returned-objects`
  .split(/\s+/)
  .map((name) => `test/${name}.test.ts`);

const defects = readDefects();
const turning = new Set<string>();
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** What the lines that a patch adds import from the product, and what is not exported there: it would not compile. */
function missingImports(patch: string): readonly string[] {
  const missing: string[] = [];
  let file = '';
  for (const line of patch.split('\n')) {
    file = /^\+\+\+ b\/(.*)$/.exec(line)?.[1] ?? file;
    const [, names = '', from = ''] = /^\+import (?:type )?\{([^}]*)\} from '(\.[^']*)'/.exec(line) ?? [];
    if (from === '') continue;
    const target = join(file, '..', from);
    const text = existsSync(join(ROOT, target)) ? read(target) : '';
    for (const name of names.split(',').map((one) => one.trim().replace(/^type /, '')))
      if (name !== '' && !new RegExp(String.raw`export [^\n]*\b${name}\b`).test(text))
        missing.push(`${name} of ${target}`);
  }
  return missing;
}

test('there are at least 36, each with a number and a name of its own', () => {
  const numbers = defects.map(({ name }) => Number.parseInt(name, 10));
  expect(numbers).toEqual(defects.map((_, index) => index + 1));
  expect(defects.length).toBeGreaterThanOrEqual(36);
  expect(new Set(defects.map(({ name }) => name.replace(/^\d+-/, ''))).size).toBe(defects.length);
});

describe.each(defects)('$name', ({ patch, files, statedIn, caughtBy, suites }) => {
  test('applies to the product as it is, and to nothing else', () => {
    expect(() => applyPatch(patch, ROOT, ['--check'])).not.toThrow();
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !file.startsWith('src/'))).toEqual([]);
  });

  test('imports what is there', () => {
    expect(missingImports(patch)).toEqual([]);
  });

  test('names places and tests that are there', () => {
    for (const place of statedIn) expect(existsSync(join(ROOT, place.replace(/,.*$/, ''))), place).toBe(true);
    for (const suite of suites) {
      const isThere = ['', '.test.ts'].some((end) => existsSync(join(ROOT, 'test', `${suite}${end}`)));
      expect(isThere, suite).toBe(true);
    }
    expect(caughtBy.length).toBeGreaterThan(0);
    for (const { file, title } of caughtBy) {
      const text = read(file);
      if (takesTurns(text)) turning.add(file);
      // Titles of tests that are made of a table stand there with a place for each value.
      const blocks = title.split(' > ').map((block) => wordsOf(block));
      for (const words of blocks)
        expect(
          words.some((word) => text.includes(word)),
          title,
        ).toBe(true);
    }
  });
});

function wordsOf(title: string): readonly string[] {
  const words = title.split(' ');
  return [
    title,
    ...words.map((_, at) => words.slice(at, at + 3).join(' ')).filter((part) => part.length > 8),
  ];
}

test('all others run on every change', () => {
  expect([...turning].sort()).toEqual(TURNING);
});

test('docs/reliability/planted-defects.md says what the headers say', () => {
  // npm run --silent test:planted -- --page > docs/reliability/planted-defects.md
  expect(read('docs/reliability/planted-defects.md')).toBe(plantedPage(defects));
});

describe('a header', () => {
  const patch = '\ndiff --git a/src/a.ts b/src/a.ts\n--- a/src/a.ts\n+++ b/src/a.ts\n';
  const header =
    'Promise: P\nStated in: docs/a.md; src/a.ts, b\nCaught by: test/a.test.ts > b > c\nSuites: a, b\n';

  test('says what is promised, where, and who would notice', () => {
    expect(parseDefect('1-x', 'file', `${header}${patch}`)).toMatchObject({
      promise: 'P',
      statedIn: ['docs/a.md', 'src/a.ts, b'],
      caughtBy: [{ file: 'test/a.test.ts', title: 'b > c' }],
      suites: ['a', 'b'],
      files: ['src/a.ts'],
    });
  });

  test.each([
    ['without a promise', header.replace(/^Promise.*\n/, '')],
    ['with two', `Promise: Q\n${header}`],
    ['with a field that is none', `Author: me\n${header}`],
    ['with a test that is not named', header.replace(' > b > c', '')],
  ])('%s is refused', (_, text) => {
    expect(() => parseDefect('1-x', 'file', `${text}${patch}`)).toThrow('1-x: ');
  });
});
