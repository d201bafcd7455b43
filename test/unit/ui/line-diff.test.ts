import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffLines, type DiffRow, linesOf, shortened } from '../../../src/ui/pages/restore/line-diff.ts';

const shown = ({ kind, oldLine, newLine }: DiffRow): string =>
  kind === 'same' ? `  ${oldLine}` : `${oldLine ?? ''}|${newLine ?? ''}`;

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 25 })
  .map((lines) => lines.map((line) => `${line}\n`).join(''));

/** Length of the longest common part, found the slow way. */
function common(a: readonly string[], b: readonly string[]): number {
  let before = Array.from({ length: b.length + 1 }, () => 0);
  for (const line of a) {
    const row = [0];
    for (const [j, other] of b.entries())
      row.push(line === other ? (before[j] ?? 0) + 1 : Math.max(before[j + 1] ?? 0, row[j] ?? 0));
    before = row;
  }
  return before.at(-1) ?? 0;
}

describe('diffLines', () => {
  it('sets changed lines beside each other', () => {
    const { rows, removed, added } = diffLines('a\nb\nc\nd\n', 'a\nx\ny\nc\nd\ne');
    expect(rows.map(shown)).toEqual(['  a', 'b|x', '|y', '  c', '  d', '|e']);
    expect([removed, added]).toEqual([1, 3]);
    expect(rows.at(3)).toMatchObject({ oldNumber: 3, newNumber: 4 });
  });

  it('leads from one text to the other, by as few lines as can be', () => {
    fc.assert(
      fc.property(text, text, (before, behind) => {
        const { rows, removed, added } = diffLines(before, behind);
        const side = (name: 'oldLine' | 'newLine') => rows.flatMap((row) => row[name] ?? []);
        expect(side('oldLine')).toEqual(linesOf(before));
        expect(side('newLine')).toEqual(linesOf(behind));
        const least = linesOf(before).length + linesOf(behind).length;
        expect(removed + added).toBe(least - 2 * common(linesOf(before), linesOf(behind)));
        for (const row of rows) if (row.kind === 'same') expect(row.oldLine).toBe(row.newLine);
      }),
    );
  });

  it('gives up looking for the shortest way when it is long', () => {
    const { rows, isRough } = diffLines('s\na\nb\nc\nt\n', 's\nx\ny\nz\nt\n', 4);
    expect(isRough).toBe(true);
    expect(rows.map(shown)).toEqual(['  s', 'a|x', 'b|y', 'c|z', '  t']);
    expect(diffLines('s\na\nt\n', 's\nx\nt\n', 4).isRough).toBe(false);
  });

  it('compares texts of a mebibyte in a moment', () => {
    const lines = Array.from({ length: 40_000 }, (_, i) => `line ${i} of a long text`);
    const changed = lines.map((line, i) => (i % 100 === 0 ? `${line}!` : line));
    const { removed, added, isRough } = diffLines(lines.join('\n'), changed.join('\n'));
    expect({ removed, added, isRough }).toEqual({ removed: 400, added: 400, isRough: false });
  });
});

describe('shortened', () => {
  const { rows } = diffLines('1\n2\n3\n4\n5\n6\n7\n8\n', '1\n2\n3\n4\nx\n6\n7\n8\n');

  it('keeps what changed and the lines around it', () => {
    const { rows: kept, isCut } = shortened(rows, 1, 100);
    expect(kept).toMatchObject([
      { kind: 'skipped', count: 3 },
      { oldLine: '4' },
      { oldLine: '5', newLine: 'x' },
      { oldLine: '6' },
      { kind: 'skipped', count: 2 },
    ]);
    expect(isCut).toBe(false);
  });

  it('says when there is more', () => {
    const { rows: kept, isCut } = shortened(rows, 9, 3);
    expect(kept).toHaveLength(3);
    expect(isCut).toBe(true);
  });
});
