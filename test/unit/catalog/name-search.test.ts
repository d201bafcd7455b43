import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { listMarked, noMarks } from '../../../src/catalog/tables/marks.ts';
import { decodeNames, encodeNames, foldedBytes, namesIn } from '../../../src/catalog/tables/name-block.ts';
import { compileNamePattern, foldName } from '../../../src/catalog/tables/name-pattern.ts';
import { findNames, prepareNameSearch } from '../../../src/catalog/answers/name-search.ts';

const letters = fc.constantFrom('a', 'A', 'b', '.', 'k', 'É', 'ß', '漢', 'K', 'İ', '𝄞');
const text = fc.string({ unit: letters, minLength: 1, maxLength: 6 });
/** Bytes that are no text, too. */
const name = fc.oneof(
  { weight: 4, arbitrary: text.map((one) => Buffer.from(one).toString('latin1')) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: fc.constantFrom('a', '\xff', '\xc3'), minLength: 1, maxLength: 4 }),
  },
);
const query = fc.oneof(
  text,
  fc.string({ unit: fc.oneof(letters, fc.constantFrom('*', '?')), minLength: 1, maxLength: 5 }),
);

/** Every second number is that of a node. */
function blockOf(names: readonly string[]): ReturnType<typeof decodeNames> {
  const named = names.map((one, i) => ({
    node: i * 2 + 1,
    directory: i,
    folded: foldedBytes(asByteString(one)),
  }));
  return decodeNames(encodeNames(named), named.length);
}

function found(names: readonly string[], q: string): readonly string[] {
  const block = blockOf(names);
  const pattern = compileNamePattern(q);
  if (pattern === undefined) throw new Error('an empty query');
  const marks = noMarks(names.length * 2);
  findNames(block, prepareNameSearch(pattern, block), marks);
  return (listMarked(marks, names.length) ?? []).map((node) => names[(node - 1) / 2] ?? '');
}

describe('findNames', () => {
  it('finds the names that match, and no others', () => {
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 30 }), query, (names, q) => {
        const matches = compileNamePattern(q)?.matches;
        expect(found(names, q)).toEqual(
          names.filter((one) => matches?.(foldName(Buffer.from(one, 'latin1')))),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('finds nothing that begins in one name and ends in the next', () => {
    expect(found(['ab', 'cd'], 'bc')).toEqual([]);
    expect(found(['ab', 'cd'], 'b\0c')).toEqual([]);
    expect(found(['ab', 'cd'], '\0')).toEqual([]);
  });

  it('finds one letter, and what only the last name has', () => {
    expect(found(['x', 'ax', 'b', 'y'], 'X')).toEqual(['x', 'ax']);
    expect(found(['abc', 'abd', 'abe'], 'abe')).toEqual(['abe']);
  });
});

describe('a block of names', () => {
  it('gives back what was put in', () => {
    fc.assert(
      fc.property(fc.array(name, { minLength: 1 }), (names) => {
        expect(namesIn(blockOf(names)).map(({ folded }) => folded)).toEqual(
          names.map((one) => Buffer.from(foldName(Buffer.from(one, 'latin1'))).toString('latin1')),
        );
      }),
    );
  });

  it('is known to be damaged when it has another length', () => {
    const block = encodeNames([{ node: 1, directory: 0, folded: 'a' }]);
    expect(() => decodeNames(block.subarray(1), 1)).toThrow('damaged');
    expect(() => decodeNames(block, 2)).toThrow('damaged');
    expect(() => decodeNames(Buffer.alloc(0), 1)).toThrow('damaged');
  });
});
