import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../../../src/api/wire/error-codes.ts';
import { english } from '../../../src/ui/language/english/english.ts';
import {
  changeWords,
  explained,
  progressWords,
  stateWords,
  volumeWords,
} from '../../../src/ui/pages/jobs/job-words.ts';
import { backupJob as backup } from '../../support/backup-job.ts';

const MIB = 1_048_576;

describe('the state of a job', () => {
  it('is a word, and counts warnings', () => {
    expect(stateWords(backup())).toEqual({ word: 'Completed', look: 'good' });
    expect(stateWords(backup({ result: 'warning', warnings_count: 3 }))).toEqual({
      word: 'Completed, 3 warnings',
      look: 'warning',
    });
    expect(stateWords(backup({ status: 'failed' }))).toEqual({ word: 'Failed', look: 'bad' });
  });
});

describe('what came of a backup', () => {
  it('is one line: what it holds, what of it was new, and what that takes', () => {
    const job = backup({}, { bytes_deduplicated: 1_160 * MIB, bytes_uploaded: 12 * MIB });
    expect(volumeWords(job)).toBe(
      'The snapshot contains 1,340 files, 1.2 GiB in all: 40.0 MiB new, stored as 12.0 MiB.',
    );
  });

  it('says so when nothing was new', () => {
    expect(volumeWords(backup({}, { bytes_deduplicated: 1_200 * MIB }))).toContain(
      'Everything was stored already',
    );
  });

  it('says of a dry run that nothing was stored', () => {
    const { options } = backup();
    expect(volumeWords(backup({ options: { ...options, dry_run: true } }))).toMatch(
      /^Dry run: .* would contain/,
    );
  });

  it('says what a job that failed has stored, and nothing when that is nothing', () => {
    expect(volumeWords(backup({ status: 'failed' }, { bytes_uploaded: 5 * MIB }))).toContain('5.0 MiB');
    expect(volumeWords(backup({ status: 'failed' }))).toBeUndefined();
    expect(volumeWords(backup({ status: 'running' }))).toBeUndefined();
  });

  it('counts files by what became of them, without what there is none of', () => {
    expect(changeWords(backup({}, { files_new: 12, files_unchanged: 1_325, files_failed: 3 }))).toBe(
      '12 new, 1,325 unchanged, 3 failed',
    );
    expect(changeWords(backup())).toBeUndefined();
  });
});

describe('the progress of a job', () => {
  it('has percent, bytes, rate and the time that is left', () => {
    const progress = {
      percent: 42.3,
      bytes_done: 234 * MIB,
      bytes_total: 1_200 * MIB,
      rate_bytes_per_second: 45 * MIB,
      eta_seconds: 185,
    };
    expect(progressWords(backup({}, progress))).toBe(
      '42% · 234.0 MiB of 1.2 GiB · 45.0 MiB/s · about 3 min 5 s left',
    );
  });

  it('says that it still counts while the total is unknown', () => {
    expect(progressWords(backup({}, { bytes_done: MIB }))).toBe('Still counting · 1.0 MiB');
  });
});

describe('errors by their code', () => {
  it('have a text when a job can fail with them', () => {
    const ofJobs = Object.entries(ERROR_CODES).flatMap(([code, { status }]) =>
      status === null ? [code] : [],
    );
    expect(ofJobs.length).toBeGreaterThan(10);
    expect(ofJobs.filter((code) => english.problems[code] === undefined)).toEqual([]);
  });

  it('mean something else for a restore than for a backup', () => {
    expect(explained('CHANGED', 'backup')).toBe(english.problems['CHANGED']);
    expect(explained('CHANGED', 'restore')).toBe(english.problems['restore.CHANGED']);
    expect(explained('E_UNHEARD_OF', 'backup')).toBeUndefined();
  });
});
