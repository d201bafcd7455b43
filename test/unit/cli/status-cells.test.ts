import { expect, test } from 'vitest';
import { lastCell } from '../../../src/cli/agent/status.ts';
import { createStyles } from '../../../src/cli/terminal/terminal.ts';

const NOW = Date.parse('2026-12-01T12:00:00Z');
const styles = createStyles(false);

test('a backup that was made after damage is not shown as a good one without a word', () => {
  const source = { last_good_backup_at: NOW - 300_000 } as Parameters<typeof lastCell>[0];
  expect(lastCell(source, false, styles, NOW)).toBe('5m ago');
  expect(lastCell(source, true, styles, NOW)).toMatchObject({ text: '5m ago, looks damaged' });
  expect(lastCell({ ...source, last_good_backup_at: null }, true, styles, NOW)).toBe('never');
});
