import { describe, expect, test } from 'vitest';
import {
  frozenBefore,
  judgeEmpty,
  judgeRun,
  NO_HISTORY,
  withRun,
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

function after(runs: readonly Partial<RunFacts>[]): SourceHistory {
  return runs.reduce<SourceHistory>((history, run) => withRun(history, { ...quiet, ...run }), NO_HISTORY);
}

function kinds(facts: Partial<RunFacts>, history = after([{}, {}, {}])): readonly string[] {
  return judgeRun({ ...quiet, ...facts }, history, []).map(({ kind }) => kind);
}

describe('an empty source', () => {
  test('is refused where there were files, and an alarm says so once', () => {
    const { refuse, alarm } = judgeEmpty({ ...quiet, files: 0 }, []);
    expect(refuse).toBe(true);
    expect(alarm?.text).toContain('/home/me is empty, and had 1000 files');
    expect(judgeEmpty({ ...quiet, files: 0 }, alarm === null ? [] : [alarm])).toEqual({
      refuse: true,
      alarm: null,
    });
  });

  test('is fine when it was empty before, or never backed up', () => {
    for (const filesBefore of [0, null])
      expect(judgeEmpty({ ...quiet, files: 0, filesBefore }, [])).toEqual({ refuse: false, alarm: null });
    expect(judgeEmpty({ ...quiet, files: 1, filesBefore: 1 }, []).refuse).toBe(false);
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

  test('keep every snapshot from before the newest of them', () => {
    const at = (time: number) => judgeRun({ ...quiet, at: time, files: 1 }, NO_HISTORY, []);
    expect(frozenBefore([])).toBeNull();
    expect(frozenBefore([...at(5), ...at(9), ...at(7)])).toBe(9);
  });

  test('have an id that tells them apart', () => {
    const ids = ['/a', '/b'].flatMap((source) => judgeRun({ ...quiet, source, files: 1 }, NO_HISTORY, []));
    expect(new Set(ids.map(({ id }) => id)).size).toBe(2);
  });
});

test('a history keeps the last thirty runs', () => {
  const history = after(Array.from({ length: 40 }, (_, index) => ({ filesChanged: index })));
  expect(history.runs).toHaveLength(30);
  expect(history.runs.at(-1)?.touched).toBe(39);
});
