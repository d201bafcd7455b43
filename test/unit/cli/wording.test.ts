import { expect, test } from 'vitest';
import { ago } from '../../../src/cli/terminal/wording.ts';

test.each([
  ['a moment', 167, 'just now'],
  ['nearly a minute', 59_999, 'just now'],
  ['a minute', 60_000, '1m ago'],
  ['a day and five hours', 104_400_000, '1d5h ago'],
  ['a year to come, noted while the clock was ahead', -31_536_000_000, 'just now'],
])('%s', (_, ms, text) => {
  expect(ago(ms)).toBe(text);
});
