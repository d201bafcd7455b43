import { describe, expect, test } from 'vitest';
import { SourceOutcomes } from '../../../src/archiver/report/source-outcomes.ts';
import { asByteString } from '../../../src/base/byte-path.ts';

const source = asByteString('/home/ana');
const LOST_ALL = { files: 0, filesBefore: 3 };

function outcomes(): SourceOutcomes {
  return new SourceOutcomes({ ruleProblem: () => {} });
}

describe('a source in which no file was found, and which had some', () => {
  test('is empty', () => {
    const seen = outcomes();
    seen.completed(source, undefined, LOST_ALL);
    expect(seen.emptied([{ path: asByteString('/home/anabel/x') }])).toEqual([
      { path: source, filesBefore: 3 },
    ]);
  });

  test.each(['/home/ana', '/home/ana/letters/may.odt'])('is not where %s could not be read', (path) => {
    const seen = outcomes();
    seen.completed(source, undefined, LOST_ALL);
    expect(seen.emptied([{ path: asByteString(path) }])).toEqual([]);
  });

  test('is not where it has files again', () => {
    const seen = outcomes();
    seen.completed(source, undefined, { files: 1, filesBefore: 3 });
    expect(seen.emptied([])).toEqual([]);
  });
});
