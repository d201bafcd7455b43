import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SourceError } from '../../../src/base/errors.ts';
import { asByteString } from '../../../src/base/byte-path.ts';
import type { ArchiveCounters } from '../../../src/archiver/report/observer.ts';
import { PROBLEMS_SHOWN, watchArchive, type WatchParts } from '../../../src/cli/backup/archive-progress.ts';
import type { ProgressCounters } from '../../../src/cli/terminal/progress.ts';

const counters: ArchiveCounters = {
  filesNew: 1,
  filesChanged: 2,
  filesUnchanged: 3,
  filesFailed: 4,
  directories: 5,
  links: 6,
  others: 7,
  bytesDone: 1000,
  bytesFound: 1500,
  bytesRead: 500,
  bytesUploaded: 200,
  bytesHanded: 200,
};

function watch(parts: Partial<WatchParts> = {}) {
  const shown: ProgressCounters[] = [];
  const notes: string[] = [];
  const progress = {
    update: (next: ProgressCounters) => shown.push(next),
    note: (text: string) => notes.push(text),
    clear: () => {},
    finish: () => {},
  };
  const watching = watchArchive({
    progress,
    sources: [asByteString('/srv')],
    totals: () => undefined,
    onProblem: undefined,
    phaseName: (phase) => phase,
    ...parts,
  });
  return { ...watching, shown, notes };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('files of every fate count as done, and totals are never below what is done', () => {
  const { observer, shown, stop } = watch({ totals: () => ({ files: 5, bytes: 4000 }) });
  observer.directory(asByteString('/srv/a'), counters);
  expect(shown.at(-1)).toEqual({
    phase: 'scanning',
    filesDone: 10,
    filesTotal: 10,
    bytesDone: 1000,
    bytesTotal: 4000,
    bytesStored: 200,
    errors: 0,
    currentPath: '/srv/a',
  });
  stop();
});

test('the counters are looked at while nothing is reported, and no more once it is stopped', () => {
  const { observer, shown, stop } = watch();
  let bytesDone = 0;
  observer.live?.(() => ({ ...counters, bytesDone }));
  bytesDone = 7_000_000;
  vi.advanceTimersByTime(1000);
  expect(shown.at(-1)).toMatchObject({ bytesDone: 7_000_000 });
  const seen = shown.length;
  stop();
  vi.advanceTimersByTime(1000);
  expect(shown).toHaveLength(seen);
});

test('problems are noted up to a limit and all counted; programs get every one', () => {
  const { observer, notes, shown, stop } = watch();
  for (let i = 0; i < PROBLEMS_SHOWN + 30; i += 1)
    observer.problem({ path: asByteString(`/srv/\u001b${i}`), code: 'EACCES', message: 'it cannot be read' });
  observer.phase('committing');
  expect(notes).toHaveLength(PROBLEMS_SHOWN);
  expect(notes[0]).toBe('Not fully backed up: /srv/\\x1b0: it cannot be read (EACCES)');
  expect(shown.at(-1)).toMatchObject({ errors: PROBLEMS_SHOWN + 30 });
  stop();

  const told: string[] = [];
  const forPrograms = watch({ onProblem: ({ code }) => told.push(code) });
  for (let i = 0; i < 50; i += 1)
    forPrograms.observer.problem({ path: asByteString('/srv/x'), code: 'EIO', message: 'gone' });
  expect(told).toHaveLength(50);
  expect(forPrograms.notes).toEqual([]);
  forPrograms.stop();
});

test('a source that is not there is said to be missing, a file that went away is not', () => {
  const { observer, notes, stop } = watch();
  observer.problem({ path: asByteString('/srv'), code: 'ENOENT', message: 'it disappeared' });
  observer.problem({ path: asByteString('/srv/x'), code: 'ENOENT', message: 'it disappeared' });
  expect(notes).toEqual([
    'Not backed up: /srv does not exist',
    'Not fully backed up: /srv/x: it disappeared (ENOENT)',
  ]);
  stop();
});

test('exclude rules that cannot be used are warned of', () => {
  const { observer, notes, stop } = watch();
  observer.ruleProblem(new SourceError('X', 'The rules cannot be read', { hint: 'Make them readable.' }));
  expect(notes).toEqual(['Warning: The rules cannot be read. Make them readable.']);
  stop();
});
