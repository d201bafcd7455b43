import { describe, expect, test } from 'vitest';
import { presentBackup, presentJob, presentRestore } from '../../../../src/api/presentation/job.ts';
import { BugError } from '../../../../src/base/errors.ts';
import { NO_PROGRESS } from '../../../../src/jobs/job.ts';
import { BACKUP_SPEC, jobOf, RESTORE_SPEC } from '../../../support/api-jobs.ts';

describe('a backup', () => {
  test.each(['queued', 'running', 'completed', 'failed', 'canceled'] as const)(
    'that is %s has the five fields of the contract, none of them null',
    (status) => {
      const {
        id,
        status: shown,
        files_backed_up,
        size_bytes,
        duration_seconds,
      } = presentBackup(jobOf(BACKUP_SPEC, { status, files_done: 3, size_bytes: 30 }), 0);
      expect([id, shown, files_backed_up, size_bytes, duration_seconds]).toEqual([
        'bkp_01JD0K7W3V8X5Q2N6M4T9R1B0C',
        status,
        3,
        30,
        0,
      ]);
    },
  );

  test('has what was asked for', () => {
    expect(presentBackup(jobOf(BACKUP_SPEC, { snapshot_id: 'snap-1' }), 0)).toMatchObject({
      type: 'backup',
      source: '/home/ana',
      options: BACKUP_SPEC.options,
      snapshot_id: 'snap-1',
    });
  });
});

describe('a restore', () => {
  test('counts the files that were restored, left and failed', () => {
    const job = jobOf(RESTORE_SPEC, {
      files_done: 5,
      files_skipped: 2,
      progress: { ...NO_PROGRESS, files_failed: 1 },
    });
    expect(presentRestore(job, 0)).toMatchObject({ files_restored: 5, files_skipped: 2, files_failed: 1 });
  });

  test('has its paths as a request takes them', () => {
    expect(presentRestore(jobOf(RESTORE_SPEC), 0)).toMatchObject({
      paths: ['/home/ana/x', { path_b64: '/w==' }],
      target: '/restored',
      in_place: false,
    });
    expect(presentRestore(jobOf({ ...RESTORE_SPEC, target: null }), 0)).toMatchObject({
      target: null,
      in_place: true,
    });
  });
});

describe('a job of whatever type', () => {
  test.each([
    [BACKUP_SPEC, { source: '/home/ana' }],
    [RESTORE_SPEC, { snapshot_id: 'snap-1' }],
    [{ type: 'check', destination: 'default', read_data: 0.5 } as const, { read_data: 0.5 }],
    [{ type: 'prune', destination: 'default', apply_retention: true } as const, { apply_retention: true }],
    [{ type: 'drill', destination: 'default', files: 9 } as const, { files: 9 }],
  ])('is shown as its own type', (spec, fields) => {
    expect(presentJob(jobOf(spec), 0)).toMatchObject({ type: spec.type, destination: 'default', ...fields });
  });

  test('is never shown as another', () => {
    expect(() => presentBackup(jobOf(RESTORE_SPEC), 0)).toThrow(BugError);
    expect(() => presentRestore(jobOf(BACKUP_SPEC), 0)).toThrow(BugError);
  });
});
