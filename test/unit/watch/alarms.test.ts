import { describe, expect, test } from 'vitest';
import {
  afterAlarm,
  afterRun,
  emptyAlarm,
  freezesOf,
  judgeRun,
  NO_HISTORY,
  withRun,
  type Alarm,
  type RunFacts,
  type SourceHistory,
} from '../../../src/watch/alarms.ts';

const quiet: RunFacts = {
  source: '/home/me',
  at: 1_700_000_000_000,
  filesBefore: 1_000,
  files: 1_000,
  filesNew: 0,
  filesChanged: 10,
  bytesNew: 10_000_000,
  bytesStored: 4_000_000,
};

const DAY_MS = 86_400_000;

/** Runs of the days before. */
function after(runs: readonly Partial<RunFacts>[]): SourceHistory {
  const first = quiet.at - runs.length * DAY_MS;
  return runs.reduce<SourceHistory>(
    (history, run, day) => withRun(history, { ...quiet, at: first + day * DAY_MS, ...run }),
    NO_HISTORY,
  );
}

function kinds(facts: Partial<RunFacts>, history = after([{}, {}, {}])): readonly string[] {
  return judgeRun({ ...quiet, ...facts }, history, []).map(({ kind }) => kind);
}

describe('an empty source', () => {
  const gone = { source: '/home/me', at: quiet.at, filesBefore: 1_000, isThere: true };

  test('is told of once, with what to do', () => {
    const alarm = emptyAlarm(gone, []);
    expect(alarm?.text).toContain('/home/me is empty. It had 1,000 files');
    expect(alarm?.text).toContain('mount it');
    expect(emptyAlarm(gone, alarm === null ? [] : [alarm])).toBeNull();
  });

  test('is told apart from one that is not there', () => {
    expect(emptyAlarm({ ...gone, isThere: false }, [])?.text).toContain('has disappeared');
    expect(emptyAlarm({ ...gone, isThere: false }, [])?.text).toContain('remove the source');
    expect(emptyAlarm(gone, [])?.text).toContain('acknowledge this alarm');
  });
});

describe('a source shrank suspiciously', () => {
  test('when more than half of at least a hundred files are gone', () => {
    expect(kinds({ files: 499 })).toEqual(['shrunk']);
    expect(kinds({ files: 500 })).toEqual([]);
    expect(kinds({ filesBefore: 100, files: 49 })).toEqual(['shrunk']);
    expect(kinds({ filesBefore: 99, files: 1 })).toEqual([]);
  });

  test('not when it has nothing to compare with', () => {
    expect(kinds({ filesBefore: null, files: 0 })).toEqual([]);
  });
});

describe('a source that can no longer be read', () => {
  const closed = { files: 0, unread: 60 };

  test('is told of when not one file is in the backup, however few there were, and once', () => {
    expect(kinds({ ...closed, filesBefore: 60 })).toEqual(['unreadable']);
    expect(kinds({ ...closed, filesBefore: 1, unread: 1 })).toEqual(['unreadable']);
    // Not as files that are gone, too.
    expect(kinds({ ...closed, filesBefore: 1_000 })).toEqual(['unreadable']);
    const open = judgeRun({ ...quiet, ...closed }, NO_HISTORY, []);
    expect(open[0]?.text).toContain(
      '/home/me had 1,000 files, but the last backup could not read any of them.',
    );
    expect(judgeRun({ ...quiet, ...closed }, NO_HISTORY, open)).toEqual([]);
    expect(freezesOf(open)).toEqual([{ source: '/home/me', before: quiet.at }]);
  });

  test('not when there was nothing before, or some files can still be read', () => {
    expect(kinds({ ...closed, filesBefore: 0 })).toEqual([]);
    expect(kinds({ ...closed, filesBefore: null })).toEqual([]);
    expect(kinds({ filesBefore: 90, files: 30, unread: 60 })).toEqual([]);
    expect(kinds({ filesBefore: 90, files: 0, unread: 0 })).toEqual([]);
  });
});

describe('mass rewriting', () => {
  const encrypted = { filesChanged: 400, bytesNew: 50_000_000, bytesStored: 50_000_000 };

  test('is seen in place, when the new content does not compress', () => {
    expect(kinds(encrypted)).toEqual(['rewritten']);
    expect(kinds({ ...encrypted, bytesStored: 20_000_000 })).toEqual([]);
  });

  test('is seen under new names', () => {
    expect(kinds({ ...encrypted, filesChanged: 0, filesNew: 400 })).toEqual(['rewritten']);
    const newExtensions = { '.locked': 400 };
    const renamed = { filesChanged: 0, filesNew: 400, bytesNew: 0, bytesStored: 0, newExtensions };
    expect(kinds(renamed)).toEqual(['rewritten']);
    expect(judgeRun({ ...quiet, ...renamed }, NO_HISTORY, [])[0]?.facts).toMatchObject({
      extension: '.locked',
    });
  });

  test('is not new photos, nor what happens all the time', () => {
    expect(kinds({ ...encrypted, filesChanged: 0, filesNew: 400, files: 1_400 })).toEqual([]);
    expect(kinds(encrypted, after([encrypted, encrypted, encrypted]))).toEqual([]);
    expect(kinds({ ...encrypted, filesChanged: 950 }, after([encrypted, encrypted, encrypted]))).toEqual([
      'rewritten',
    ]);
  });

  test('is not a few files, however dense', () => {
    expect(kinds({ ...encrypted, filesChanged: 199 })).toEqual([]);
    expect(kinds({ ...encrypted, filesBefore: 100, files: 100, filesChanged: 99 })).toEqual([]);
  });
});

describe('a source that rules leave out', () => {
  test('is told of however few files it had, once, and until they are back', () => {
    const run = { ...quiet, filesBefore: 50, files: 1, leftOut: true };
    const [alarm] = judgeRun(run, NO_HISTORY, []);
    expect(alarm).toMatchObject({ kind: 'left_out', facts: { files_before: 50, files: 1 } });
    const open = alarm === undefined ? [] : [alarm];
    expect(judgeRun({ ...run, filesBefore: 1 }, NO_HISTORY, open)).toEqual([]);
    expect(afterRun({ ...run, files: 60 }, open).mended).toEqual([]);
    expect(afterRun({ ...run, files: 50, leftOut: false }, open).mended).toEqual(open);
  });

  test('is nothing new where nothing more is missing than before', () => {
    expect(judgeRun({ ...quiet, filesBefore: 1, files: 1, leftOut: true }, NO_HISTORY, [])).toEqual([]);
  });
});

describe('a burst', () => {
  const many = { filesBefore: 30_000, files: 30_000, filesChanged: 20_000 };

  test('is far more than ever before', () => {
    expect(kinds(many)).toEqual(['burst']);
    expect(kinds(many, after([{ ...many, filesChanged: 5_000 }]))).toEqual([]);
  });

  test('needs something usual to be compared with', () => {
    expect(kinds(many, NO_HISTORY)).toEqual([]);
  });
});

describe('alarms', () => {
  test('of a kind are raised once for a source until they are acknowledged', () => {
    const [alarm] = judgeRun({ ...quiet, files: 10 }, NO_HISTORY, []);
    if (alarm === undefined) throw new Error('no alarm');
    expect(judgeRun({ ...quiet, files: 1 }, NO_HISTORY, [alarm])).toEqual([]);
    expect(judgeRun({ ...quiet, source: '/other', files: 10 }, NO_HISTORY, [alarm])).toHaveLength(1);
  });

  test('keep every snapshot of their source from before the newest of them', () => {
    const at = (time: number, source: string) =>
      judgeRun({ ...quiet, source, at: time, files: 1 }, NO_HISTORY, []);
    expect(freezesOf([])).toEqual([]);
    expect(freezesOf([...at(5, '/a'), ...at(9, '/a'), ...at(7, '/a'), ...at(8, '/b')])).toEqual([
      { source: '/a', before: 9 },
      { source: '/b', before: 8 },
    ]);
  });

  test('have an id that tells them apart', () => {
    const ids = ['/a', '/b'].flatMap((source) => judgeRun({ ...quiet, source, files: 1 }, NO_HISTORY, []));
    expect(new Set(ids.map(({ id }) => id)).size).toBe(2);
  });
});

describe('runs of one hour', () => {
  const minute = 60_000;
  const encrypted = { filesChanged: 50, bytesNew: 5_000_000, bytesStored: 5_000_000 };

  /** The kinds that each of so many runs raises, a minute apart. */
  function series(count: number, run: (n: number) => Partial<RunFacts>, begin = NO_HISTORY) {
    let history = begin;
    return Array.from({ length: count }, (_, n) => {
      const facts = { ...quiet, at: quiet.at + n * minute, ...run(n) };
      const raised = judgeRun(facts, history, []);
      history = raised.length > 0 ? afterAlarm(history) : withRun(history, facts);
      return raised.map(({ kind }) => kind).join();
    });
  }

  test('are judged together: rewriting that is spread over many small backups is seen', () => {
    const said = series(6, () => encrypted, after([{}, {}, {}]));
    expect(said).toEqual(['', '', '', 'rewritten', '', '']);
  });

  test('are judged together: so is what vanishes little by little', () => {
    const said = series(8, (n) => ({ filesBefore: 1_000 - n * 100, files: 900 - n * 100, filesChanged: 0 }));
    expect(said[4]).toBe('');
    expect(said[5]).toBe('shrunk');
  });

  test('do not become usual while they last', () => {
    const said = series(40, () => ({
      ...encrypted,
      filesChanged: 6,
      bytesNew: 500_000,
      bytesStored: 500_000,
    }));
    expect(said.slice(0, 33).join('')).toBe('');
    expect(said[33]).toBe('rewritten');
  });

  test('become usual afterwards, unless they raised an alarm', () => {
    const busy = { ...encrypted, filesChanged: 150 };
    expect(after([busy, quiet]).runs).toEqual([{ rewrittenShare: 0.15, touched: 150 }]);
    expect(afterAlarm(after([busy, quiet])).runs).toHaveLength(1);
    expect(afterAlarm(after([busy, quiet])).window).toBeNull();
  });
});

test('a history keeps the last thirty windows', () => {
  const history = after(Array.from({ length: 40 }, (_, index) => ({ filesChanged: index })));
  expect(history.runs).toHaveLength(30);
  expect(history.runs.at(-1)?.touched).toBe(38);
});

describe('files that disappeared', () => {
  const place = (snapshot: string) => ({ snapshot, destination: 'default' });
  const minute = 60_000;
  const run = (files: number, filesBefore: number, n: number): RunFacts => ({
    ...quiet,
    at: quiet.at + n * minute,
    files,
    filesBefore,
    filesChanged: 0,
    filesNew: Math.max(0, files - filesBefore),
    before: place(`before-${n}`),
    made: place(`made-${n}`),
  });

  /** The open alarms after runs with so many files, one after the other. */
  function openAfter(...files: readonly number[]) {
    let [open, history, before] = [[] as readonly Alarm[], after([{}, {}, {}]), files[0] ?? 0];
    const mended: Alarm[] = [];
    for (const [n, count] of files.entries()) {
      const facts = run(count, before, n);
      const raised = judgeRun(facts, history, open);
      history = raised.length + open.length > 0 ? afterAlarm(history) : withRun(history, facts);
      const followed = afterRun(facts, open);
      mended.push(...followed.mended);
      open = [...followed.open, ...raised];
      before = count;
    }
    return { open, mended };
  }

  const [lost] = openAfter(30_012, 30_013, 8_711).open;

  test('are counted from the most that there were, and the snapshot with so many is named', () => {
    expect(lost).toMatchObject({
      kind: 'shrunk',
      facts: { files_before: 30_013, files: 8_711 },
      before: place('made-1'),
      text: expect.stringContaining('21,302 of 30,013 files disappeared from /home/me: 70 % are gone.'),
    });
    expect(lost?.text).toMatch(/Restore what is missing \(\S.* restore made-1 --in-place\): this alarm/);
  });

  test('end their alarm when they are back, or nearly all of them, and their coming is no alarm', () => {
    expect(openAfter(30_012, 30_013, 8_711, 30_013)).toEqual({ open: [], mended: [expect.anything()] });
    expect(openAfter(30_012, 30_013, 8_711, 20_000, 29_500).open).toEqual([]);
    expect(openAfter(30_012, 30_013, 8_711, 29_000).open.map(({ id }) => id)).toEqual([lost?.id]);
  });

  test('are told of again when more disappear of what was left, or had come back', () => {
    const losses = (...files: readonly number[]) =>
      openAfter(...files).open.map(({ facts, before }) => [
        facts['files_before'],
        facts['files'],
        before?.snapshot,
      ]);
    const first = [30_013, 8_711, 'made-1'];
    expect(losses(30_012, 30_013, 8_711, 8_000, 2_000)).toEqual([first, [8_711, 2_000, 'made-2']]);
    expect(losses(30_012, 30_013, 8_711, 20_000, 9_000)).toEqual([first, [20_000, 9_000, 'made-3']]);
    expect(losses(30_012, 30_013, 8_711, 2_000, 8_711)).toEqual([first]);
    const { open } = openAfter(30_012, 30_013, 8_711, 2_000);
    expect(freezesOf(open)).toEqual([{ source: '/home/me', before: quiet.at + 3 * minute }]);
  });

  test('are told of once, though another destination sees the same loss', () => {
    const [alarm] = openAfter(30_013, 8_711).open;
    if (alarm === undefined) throw new Error('no alarm');
    expect(judgeRun(run(8_711, 30_013, 5), NO_HISTORY, [alarm])).toEqual([]);
  });

  test('end the alarm of a source that was empty or unreadable, too', () => {
    const empty = emptyAlarm({ source: '/home/me', at: 1, filesBefore: 60, isThere: true }, []);
    const closed = judgeRun({ ...quiet, filesBefore: 60, files: 0, unread: 60 }, NO_HISTORY, []);
    const open = [...(empty === null ? [] : [empty]), ...closed];
    expect(afterRun(run(20, 0, 1), open).mended).toEqual([]);
    expect(afterRun(run(60, 0, 1), open)).toEqual({ open: [], mended: open });
  });
});
