import { expect, test } from 'vitest';
import type { Restore } from '../../../src/api/schemas/job.ts';
import type { Snapshot } from '../../../src/api/schemas/snapshot.ts';
import { problemsCsv, reportText } from '../../../src/ui/pages/restore/report-text.ts';

const JOB = {
  id: 'rst_1',
  type: 'restore',
  status: 'completed',
  snapshot_id: 'ab'.repeat(32),
  paths: ['/home/ana/Letters'],
  target: '/tmp/back',
  options: { dry_run: false },
  files_restored: 1_200,
  files_skipped: 0,
  files_failed: 0,
  warnings_count: 0,
  size_bytes: 2_048,
  finished_at: '2026-03-12T09:30:00Z',
  error: null,
} as unknown as Restore;
const SNAPSHOT = { created_at: '2026-03-11T22:00:00Z', source: '/home/ana' } as unknown as Snapshot;

test('a restore as text says how much, from when, and where to', () => {
  const text = reportText(JOB, SNAPSHOT, []);
  expect(text.split('\n')[0]).toBe('Restored');
  expect(text).toContain('Restored: 1,200 files, 2.0 KiB\n');
  expect(text).toMatch(/From the snapshot of .*Mar.* 2026/);
  expect(text).toContain('Source: /home/ana\nRestored to: /tmp/back\n');
  expect(text).toContain('What:\n- /home/ana/Letters\n');
  expect(text).not.toContain('Not restored');
});

test('what was kept and what failed is in it, with the reason', () => {
  const job = { ...JOB, files_skipped: 2, files_failed: 1, warnings_count: 3, target: null };
  const text = reportText(job, SNAPSHOT, [{ path: '/home/ana/a', code: 'ENOSPC', message: 'no space' }]);
  expect(text).toContain('Kept: 2');
  expect(text).toContain('Failed: 1\n');
  expect(text).toContain('Restored to: Back where they were\n');
  expect(text).toMatch(/Not restored:\n- \/home\/ana\/a: .+\nand 2 more\n$/);
});

test('a mail stays short, shows what is invisible, and does without a removed snapshot', () => {
  const paths = Array.from({ length: 60 }, (_, i) => `/f${i}\u{202E}`);
  const text = reportText({ ...JOB, paths }, undefined, []);
  expect(text).toContain(`Snapshot: ${JOB.snapshot_id}\n`);
  expect(text).toContain('- /f49⟨U+202E⟩\nand 10 more\n');
});

test('the table has a line for each file, and no name becomes a formula', () => {
  const csv = problemsCsv([
    { path: '/a "b", c', code: 'X', message: 'why' },
    { path: '=HYPERLINK(1)', code: 'X', message: '' },
  ]);
  expect(csv).toBe(
    '\u{FEFF}"Path","Reason","Code"\r\n"/a ""b"", c","why","X"\r\n"\'=HYPERLINK(1)","X","X"\r\n',
  );
});
