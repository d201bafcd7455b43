/** The line below the headline says of the same files something else when nothing is protected. */
import { expect, test } from 'vitest';
import type { Overview } from '../../../src/api/schemas/page/overview.ts';
import { holdingsOf } from '../../../src/ui/pages/overview/holdings.ts';
import { damagedSources } from '../../../src/ui/pages/overview/remedies.ts';
import { outlookOf } from '../../../src/ui/pages/overview/overview-page.tsx';
import { overviewOnPage } from '../../support/overview-on-page.ts';

const AT = '2026-11-22T12:00:00.000Z';

function overview(level: 'good' | 'warning' | 'bad', files: number): Overview {
  const page = overviewOnPage(AT);
  const source = { path: '/a', name: 'a', destination: 'usb', schedule: 'off', last_good_backup_at: AT };
  const ran = { earlier_backup_at: null, next_run_at: null, overdue: false, watching: true };
  const rest = { ...ran, size_bytes: 2_048, history: [] };
  return { ...page, headline: { ...page.headline, level }, sources: [{ ...source, ...rest, files }] };
}

test('files are protected where the headline does not deny it', () => {
  expect(holdingsOf(overview('good', 3))).toBe('3 files (2.0 KiB) are protected.');
  expect(holdingsOf(overview('warning', 1))).toBe('1 file (2.0 KiB) is protected.');
  expect(holdingsOf(overview('bad', 3))).toBe('The last good backups have 3 files (2.0 KiB).');
  expect(holdingsOf(overview('bad', 1))).toBe('The last good backups have 1 file (2.0 KiB).');
  expect(holdingsOf(overview('bad', 0))).toBe('');
});

test('after damage the newest backups are not called good, and neither is their source', () => {
  const page = overview('bad', 3);
  const headline = { ...page.headline, code: 'files_rewritten' as const, paths: ['/a'] };
  expect(holdingsOf({ ...page, headline })).toBe(
    'The newest backups were made after what the alarm is about, and have 3 files (2.0 KiB). Earlier ones are kept.',
  );
  expect([...damagedSources({ headline: page.headline, others: [headline] })]).toEqual(['/a']);
  const empty = { ...headline, code: 'source_empty' as const };
  expect(damagedSources({ headline: empty, others: [] }).size).toBe(0);
});

test('the next backup is not said to be due later while one waits', () => {
  const page = overview('good', 3);
  const later = new Date(Date.now() + 4 * 3_600_000).toISOString();
  const facts = { ...page, sources: page.sources.map((source) => ({ ...source, next_run_at: later })) };
  expect(outlookOf(facts)).toContain('The next backup is due in 4 hours.');
  const job = { type: 'backup', status: 'queued' } as const;
  expect(outlookOf({ ...facts, active: [job] })).toBeUndefined();
  expect(outlookOf({ ...facts, active: [{ ...job, status: 'running' }] })).toContain('in 4 hours');
});
