import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../../../src/api/wire/error-codes.ts';
import { errorWords } from '../../../src/ui/components/problem.tsx';
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

  it('does not count the bytes of no files', () => {
    expect(volumeWords(backup({ files_backed_up: 0, size_bytes: 0 }))).toBe(
      'The snapshot contains no files.',
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

  it('say what is wrong with a destination where the cause is known, and nothing wrong where it is not', () => {
    const said = (details: object): string | undefined => errorWords({ code: 'DESTINATION_ERROR', details });
    expect(said({ reason: 'empty' })).toMatch(/^The folder of the destination is empty/);
    expect(said({ reason: 'different' })).toMatch(
      /^The destination holds a different repository than before/,
    );
    expect(said({ reason: 'missing' })).toMatch(/^The repository is not there any more/);
    expect(said({ errno: 'EROFS' })).toMatch(/^The destination is read-only/);
    for (const errno of ['EACCES', 'EPERM'])
      expect(said({ errno })).toMatch(/^Holdfast does not have permission to write to the destination/);
    expect(said({})).toBe(
      'The destination cannot be used as it is. Open the job to see why, or test the destination in the settings.',
    );
  });

  it('tell a job that a command kept from starting from one that lacks what the command makes', () => {
    expect(errorWords({ code: 'HOOK_FAILED' }, 'backup')).toContain('the job did not start');
    expect(explained('HOOK_FAILED', 'backup')).toContain('The backup may lack what it produces');
  });

  it('tell a source that is gone from one that is empty', () => {
    const said = (isThere: boolean): string | undefined =>
      errorWords({ code: 'SOURCE_SUSPICIOUSLY_EMPTY', details: { is_there: isThere } });
    expect(said(false)).toMatch(/^The source is gone/);
    expect(said(true)).toMatch(/^The source is empty/);
  });

  it('of a restore keep their own words', () => {
    expect(errorWords({ code: 'CORRUPT_DATA' }, 'restore')).toBe(english.problems['restore.CORRUPT_DATA']);
    expect(errorWords({ code: 'CORRUPT_DATA' }, 'backup')).toBe(english.problems['CORRUPT_DATA']);
  });

  it('mean something else for a restore than for a backup', () => {
    expect(explained('CHANGED', 'backup')).toBe(english.problems['CHANGED']);
    expect(explained('CHANGED', 'restore')).toBe(english.problems['restore.CHANGED']);
    expect(explained('E_UNHEARD_OF', 'backup')).toBeUndefined();
  });
});
