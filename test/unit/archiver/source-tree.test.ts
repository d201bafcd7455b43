import { expect, test } from 'vitest';
import { arrangeSources, sourcesBelow, sourcesFrom } from '../../../src/archiver/source/source-tree.ts';
import { asByteString } from '../../../src/base/byte-path.ts';

test('sources are found in the order of their bytes, those inside others among them', () => {
  const tree = arrangeSources(['/b', '/a/x', '/a', '/a/x/deep', '/c/only'].map(asByteString));
  expect(sourcesBelow(tree)).toEqual(['/a', '/a/x', '/a/x/deep', '/b', '/c/only']);
  expect(tree.whole).toBe(false);
  expect(tree.children.get(asByteString('a'))?.whole).toBe(true);
});

test('the root itself is a source like any other', () => {
  expect(sourcesFrom(arrangeSources([asByteString('/'), asByteString('/a')]))).toEqual(['/', '/a']);
});

test('a path may have thousands of levels', () => {
  const path = asByteString('/d'.repeat(4_000));
  expect(sourcesBelow(arrangeSources([path]))).toEqual([path]);
});
