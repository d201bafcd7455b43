import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resultOf, reportText } from '../../../src/enrollment/result.ts';
import { ERROR_CODES } from '../../../src/api/wire/error-codes.ts';
import type { Job } from '../../../src/jobs/job.ts';
import { BACKUP_SPEC, jobOf } from '../../support/api-jobs.ts';
import { partnerDocument, partnerFaultsOf } from '../../support/partner-judge.ts';

const RESULT_SCHEMAS = ['BackupResult', 'RestoreResult'].map(
  (name) => partnerDocument.components.schemas[name] ?? {},
);
const REPORT = partnerDocument.components.schemas['Report'] ?? {};

function toldOf(changes: Partial<Job>): unknown {
  const body = resultOf({ ...jobOf(BACKUP_SPEC), finished_at: 1_000, ...changes })?.body;
  return typeof body === 'string' ? JSON.parse(body) : body;
}

describe('a result', () => {
  test('is told of backups that completed, with or without warnings, and that failed', () => {
    expect(toldOf({ status: 'completed', result: 'success' })).toMatchObject({
      kind: 'backup',
      status: 'completed',
      error_code: null,
    });
    expect(toldOf({ status: 'completed', result: 'warning' })).toMatchObject({ status: 'warning' });
    const error = { code: 'DESTINATION_UNREACHABLE', message: '/secret/path', details: { path: '/secret' } };
    const failed = toldOf({ status: 'failed', error });
    expect(failed).toMatchObject({ status: 'failed', error_code: 'DESTINATION_UNREACHABLE' });
    expect(JSON.stringify(failed)).not.toContain('secret');
  });

  test('is not told of what was canceled, of dry runs, and of other jobs', () => {
    expect(toldOf({ status: 'canceled' })).toBeNull();
    const dryRun = { ...BACKUP_SPEC, options: { ...BACKUP_SPEC.options, dry_run: true } };
    expect(toldOf({ status: 'completed', spec: dryRun })).toBeNull();
    expect(toldOf({ status: 'completed', type: 'check' })).toBeUndefined();
    expect(toldOf({ status: 'running', finished_at: null })).toBeUndefined();
  });

  test('is what the interface takes, whatever stands in the job; nothing but numbers and codes comes of it', () => {
    const canary = 'canary-of-a-path';
    const number = fc.oneof(fc.double(), fc.maxSafeInteger());
    fc.assert(
      fc.property(
        fc.constantFrom('completed' as const, 'failed' as const),
        fc.oneof(
          fc.constantFrom(...Object.keys(ERROR_CODES)),
          fc.string(),
          fc.constant(canary.toUpperCase()),
        ),
        fc.tuple(number, number, number, number),
        fc.integer({ min: 0, max: 4_000_000_000_000 }),
        (status, code, [files, bytes, ms, uploaded], finishedAt) => {
          const made = jobOf(BACKUP_SPEC);
          const told = toldOf({
            status,
            finished_at: finishedAt,
            files_done: files,
            size_bytes: bytes,
            duration_ms: ms,
            progress: { ...made.progress, bytes_uploaded: uploaded, current_path: canary },
            error: { code, message: canary, details: { canary } },
            problems: [{ path: canary, code: canary, message: canary }],
            spec: { ...BACKUP_SPEC, source: `/${canary}`, destination: canary },
          });
          expect(partnerFaultsOf(RESULT_SCHEMAS[0] ?? {}, told)).toEqual([]);
          expect(JSON.stringify(told).toLowerCase()).not.toContain(canary);
        },
      ),
    );
  });
});

test('a report is what the interface takes, and says nothing of storage that was told before', () => {
  const facts = {
    seq: 1,
    agentVersion: '1.0.0',
    expectedEverySeconds: null,
    results: [],
    ordersTaken: [],
    heads: [],
  };
  const bare: unknown = JSON.parse(reportText({ ...facts, stored: null }));
  expect(bare).toEqual({
    seq: 1,
    agent_version: '1.0.0',
    expected_every_seconds: null,
    storage: null,
    results: [],
  });
  const result = resultOf({ ...jobOf(BACKUP_SPEC), status: 'completed', finished_at: 5 })?.body ?? '';
  const full: unknown = JSON.parse(
    reportText({ ...facts, expectedEverySeconds: 60, stored: { bytes: 2 ** 60, at: 0 }, results: [result] }),
  );
  for (const body of [bare, full]) expect(partnerFaultsOf(REPORT, body)).toEqual([]);
});
