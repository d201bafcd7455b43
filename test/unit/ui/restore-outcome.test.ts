import { expect, test } from 'vitest';
import { outcomeOf } from '../../../src/ui/pages/restore/report-text.ts';

test.each([
  ['everything came', 0, 0, 'Done: 7 files are back.'],
  ['files failed', 2, 2, '2 files could not be restored'],
  ['a part of a directory could not be read', 0, 1, 'not everything could be restored'],
])('a restore of which %s says so', (_, failed, warnings, text) => {
  expect(outcomeOf({ files_restored: 7, files_failed: failed, warnings_count: warnings })).toContain(text);
});
