import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { asByteString, bytesOfText, joinBytes, type ByteString } from '../../../src/base/byte-path.ts';
import { fsPath, treePath } from '../../../src/base/tree-path.ts';
import { pathsOfEvent } from '../../../src/watch/event-paths.ts';
import { removeTree } from '../../support/remove-tree.ts';

let root: ByteString;
const at = (...names: readonly string[]): ByteString => names.map(asByteString).reduce(joinBytes, root);

beforeEach(() => {
  root = treePath(mkdtempSync(join(tmpdir(), 'holdfast-event-paths-')));
});
afterEach(() => removeTree(root));

describe('the path of an event', () => {
  test('is its bytes', () => {
    expect(pathsOfEvent('/a/é')).toEqual({ directories: ['/a'], entries: [bytesOfText('/a/é')] });
    expect(pathsOfEvent('/a')).toEqual({ directories: ['/'], entries: ['/a'] });
  });

  test('stands for every name that lost bytes in the same place', () => {
    for (const name of ['\xff', 'x\xfe', 'plain']) writeFileSync(fsPath(at(name)), '');
    const { directories, entries } = pathsOfEvent(`${root}/\ufffd`);
    expect(directories).toEqual([root]);
    expect([...entries].sort()).toEqual([at('x\xfe'), at('\xff')]);
  });

  test('is followed below a directory whose name lost bytes', () => {
    mkdirSync(fsPath(at('\xff')));
    mkdirSync(fsPath(at('\xff', 'deep')));
    expect(pathsOfEvent(`${root}/\ufffd/deep/file`)).toEqual({
      directories: [at('\xff', 'deep')],
      entries: [at('\xff', 'deep', 'file')],
    });
  });

  test('leads to the last directory that is there when such a name is gone', () => {
    expect(pathsOfEvent(`${root}/\ufffd`)).toEqual({ directories: [root], entries: [] });
    expect(pathsOfEvent(`${root}/\ufffd/file`)).toMatchObject({ directories: [root], entries: [] });
  });
});
