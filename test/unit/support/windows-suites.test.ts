/** What the suites have to do under Wine, and what a list that says too much is told. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { judgeSuites, leftOut, readNotHeld, type NotHeld, type SuiteReport } from '../../windows/suites.ts';

const NOT_HELD: NotHeld = {
  'there are no modes': { 'unit/base/one.test.ts': ['modes are kept'], 'unit/codec/two.test.ts': ['keys'] },
  'there is no shell': { 'unit/base/shell.test.ts': 'all' },
};

const reportOf = (tests: Readonly<Record<string, 'passed' | 'failed' | 'skipped'>>): SuiteReport => ({
  testResults: [
    {
      name: 'Z:\\p\\test\\unit\\base\\one.test.ts',
      status: 'passed',
      assertionResults: Object.entries(tests).map(([fullName, status]) => ({
        fullName,
        status,
        failureMessages: status === 'failed' ? ['expected 1 to be 2'] : [],
      })),
    },
  ],
});
const judge = (tests: Readonly<Record<string, 'passed' | 'failed' | 'skipped'>>): unknown =>
  judgeSuites(reportOf(tests), NOT_HELD, 'unit/base');

describe('a folder that was run under Wine', () => {
  test('holds when nothing fails but what is named', () => {
    expect(judge({ names: 'passed', times: 'skipped', 'modes are kept': 'failed' })).toEqual({
      passed: 1,
      skipped: 1,
      notHeld: 1,
      faults: [],
    });
  });

  test('does not hold when something else fails', () => {
    expect(judge({ names: 'failed', 'modes are kept': 'failed' })).toMatchObject({
      faults: ['unit/base/one.test.ts: names: expected 1 to be 2'],
    });
  });

  test('does not hold when a test that is named passes, or is gone', () => {
    expect(judge({ 'modes are kept': 'passed' })).toMatchObject({
      faults: [expect.stringContaining('it passes, so it must not be named')],
    });
    expect(judge({ names: 'passed' })).toMatchObject({
      faults: [expect.stringContaining('there is no such test')],
    });
  });

  test('does not hold when a file breaks off before its tests', () => {
    const report: SuiteReport = {
      testResults: [
        {
          name: 'Z:/p/test/unit/base/two.test.ts',
          status: 'failed',
          message: 'no such module',
          assertionResults: [],
        },
      ],
    };
    expect(judgeSuites(report, {}, 'unit/base').faults).toEqual([
      'unit/base/two.test.ts: it could not be run: no such module',
    ]);
  });

  test('leaves out the files that are named as a whole', () => {
    expect(leftOut(NOT_HELD, 'unit/base')).toEqual(['unit/base/shell.test.ts']);
    expect(leftOut(NOT_HELD, 'unit/codec')).toEqual([]);
  });
});

test('every file that is named as not held on Windows exists', () => {
  const files = Object.values(readNotHeld()).flatMap((byFile) => Object.keys(byFile));
  expect(files.filter((file) => !existsSync(join(import.meta.dirname, '..', '..', file)))).toEqual([]);
});
