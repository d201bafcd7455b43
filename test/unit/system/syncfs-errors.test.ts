import { expect, test } from 'vitest';
import { syncfsTellsErrors } from '../../../src/system/syncfs-errors.ts';

test.each([
  ['4.19.0-27-amd64', false],
  ['5.4.0-200-generic', false],
  ['5.7.19', false],
  ['5.8.0-rc1', true],
  ['5.10.0-30-arm64', true],
  ['6.1.0-18-amd64', true],
  ['10.0', true],
  ['unknown', false],
])('of kernel %s: %s', (release, tells) => {
  expect(syncfsTellsErrors(release)).toBe(tells);
});
