import { expect, test } from 'vitest';
import type { File } from '../../../src/api/schemas/snapshot.ts';
import { neighbors } from '../../../src/ui/pages/restore/file-dialog.tsx';
import { textRef } from '../../../src/ui/pages/restore/path-ref.ts';

/** A folder of which only the given entries are fetched; names in capitals are folders. */
function folder(names: readonly (string | undefined)[]) {
  const items = names.map((name) =>
    name === undefined
      ? undefined
      : ({
          path: name,
          path_b64: null,
          type: name === name.toUpperCase() ? 'directory' : 'file',
          snapshot_id: 's',
        } as unknown as File),
  );
  return {
    count: items.length,
    at: (index: number) => items[index],
    find: (isMeant: (item: File) => boolean) =>
      items.findIndex((item) => item !== undefined && isMeant(item)),
  };
}

const beside = (names: readonly (string | undefined)[], name: string, snapshot = 's') => {
  const { listed, earlier, later, missing } = neighbors(folder(names), textRef(name), snapshot);
  return [listed?.path, earlier?.path, later?.path, missing];
};

test('the files before and behind one are found, past folders', () => {
  expect(beside(['a', 'b', 'c'], 'b')).toEqual(['b', 'a', 'c', undefined]);
  expect(beside(['a', 'B', 'C', 'd'], 'a')).toEqual(['a', undefined, 'd', undefined]);
  expect(beside(['a', 'B'], 'a')).toEqual(['a', undefined, undefined, undefined]);
});

test('what is not fetched yet is named, so that it can be', () => {
  expect(beside(['a', undefined, 'c'], 'a')).toEqual(['a', undefined, undefined, 1]);
});

test('a file of another folder or of another snapshot has none', () => {
  expect(beside(['a', 'b'], 'x')).toEqual([undefined, undefined, undefined, undefined]);
  expect(beside(['a', 'b'], 'a', 'other')).toEqual([undefined, undefined, undefined, undefined]);
  expect(neighbors(undefined, textRef('a'), 's')).toEqual({});
});
