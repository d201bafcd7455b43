import { describe, expect, it, vi } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { openForReading } from '../../../src/catalog/tables/catalog-database.ts';
import { listMarked, type Marks } from '../../../src/catalog/tables/marks.ts';
import { NameIndex } from '../../../src/catalog/answers/name-index.ts';
import { compileNamePattern, type NamePattern } from '../../../src/catalog/tables/name-pattern.ts';
import { NameWriter } from '../../../src/catalog/ingest/name-writer.ts';
import { openFixture, type Fixture } from './catalog-fixture.ts';

vi.mock('../../../src/catalog/tables/name-block.ts', async (original) => ({
  ...(await original<typeof import('../../../src/catalog/tables/name-block.ts')>()),
  NAMES_PER_BLOCK: 4,
}));

function pattern(q: string): NamePattern {
  const compiled = compileNamePattern(q);
  if (compiled === undefined) throw new Error('an empty query');
  return compiled;
}

function list(marks: Marks): readonly number[] | undefined {
  return listMarked(marks, 100);
}

/** Nodes from 2 on in three directories: 1, the root; 2 in it; 4 in that. */
function fill(fixture: Fixture): NameWriter {
  const writer = new NameWriter(fixture.database);
  const names = [
    [2, 1, 'd'],
    [3, 1, 'File'],
    [4, 2, 'e'],
    [5, 4, 'file'],
    [6, 4, 'g'],
    [8, 2, 'filet'],
  ] as const;
  for (const [node, above, name] of names) writer.add(node, above, asByteString(name));
  writer.flush();
  return writer;
}

describe('NameIndex', () => {
  it.each([0, 100, 1_000_000])(
    'tells what matches and where it lies, with %d bytes of memory',
    async (kept) => {
      using fixture = await openFixture();
      fill(fixture);
      const database = openForReading(fixture.path);
      const index = new NameIndex(database, kept);
      for (let round = 0; round < 2; round += 1) {
        const matching = index.matching(pattern('FILE'));
        expect(list(matching)).toEqual([3, 5, 8]);
        expect(list(index.waysTo(matching))).toEqual([1, 2, 4]);
        expect(list(index.waysTo(index.matching(pattern('filet'))))).toEqual([1, 2]);
        expect(list(index.inside(2))).toEqual([4, 8]);
        expect(list(index.below(2))).toEqual([4, 5, 6, 8]);
        expect(list(index.below(1))).toEqual([2, 3, 4, 5, 6, 8]);
        expect(list(index.matching(pattern('nothing')))).toEqual([]);
      }
      database.close();
    },
  );

  it('sees what comes later once it is told that something was written', async () => {
    using fixture = await openFixture();
    const writer = fill(fixture);
    const database = openForReading(fixture.path);
    const index = new NameIndex(database);
    expect(list(index.matching(pattern('file')))).toEqual([3, 5, 8]);
    writer.add(9, 1, asByteString('profile'));
    writer.flush();
    index.outdate();
    expect(list(index.matching(pattern('file')))).toEqual([3, 5, 8, 9]);
    // The block that has the same ends as before, but not the same nodes.
    fixture.database.exec('DELETE FROM names WHERE first = 6');
    index.outdate();
    expect(list(index.matching(pattern('file')))).toEqual([3, 5]);
    database.close();
  });

  it('fills one block after the other, however few names come at a time', async () => {
    using fixture = await openFixture();
    for (let node = 1; node <= 10; node += 1) {
      const writer = new NameWriter(fixture.database);
      writer.add(node, 0, asByteString(`n${node}`));
      writer.flush();
    }
    expect(fixture.database.prepare('SELECT first, last, count FROM names').raw().all()).toEqual([
      [1, 4, 4],
      [5, 8, 4],
      [9, 10, 2],
    ]);
  });
});
