import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bytesOfText } from '../../src/base/byte-path.ts';
import { treePath } from '../../src/base/tree-path.ts';
import { compareTrees } from './compare-trees.ts';
import { hasXattrs, makeSpecial, setTimes, setXattr } from './libc.ts';
import { removeTree } from './remove-tree.ts';

let work: string;

beforeEach(() => {
  work = mkdtempSync(path.join(tmpdir(), 'holdfast-compare-'));
});
afterEach(() => {
  removeTree(work);
});

/** A small tree whose every time is fixed, so that two of them are the same. */
function makeTree(name: string): string {
  const root = path.join(work, name);
  mkdirSync(path.join(root, 'directory'), { recursive: true });
  writeFileSync(path.join(root, 'directory/file'), 'content');
  writeFileSync(path.join(root, 'sparse'), '');
  truncateSync(path.join(root, 'sparse'), 4 * 1024 * 1024);
  symlinkSync('file', path.join(root, 'directory/link'));
  linkSync(path.join(root, 'directory/file'), path.join(root, 'second-name'));
  makeSpecial(treePath(path.join(root, 'fifo')), 'fifo', 0o600);
  settle(root);
  return root;
}

const entries = ['directory/file', 'directory/link', 'directory', 'sparse', 'fifo', ''];

function settle(root: string): void {
  for (const entry of entries) setTimes(treePath(path.join(root, entry)), 1_700_000_000_123_456_789n);
}

/** What the comparison says after `change` was made to one of two equal trees. */
function aspectsAfter(change: (root: string) => void): readonly string[] {
  const [left, right] = [makeTree('left'), makeTree('right')];
  change(right);
  return compareTrees(left, right).map((difference) => `${difference.path} ${difference.aspect}`);
}

describe('comparing two trees', () => {
  test('finds nothing when they are the same', () => {
    expect(aspectsAfter(() => undefined)).toEqual([]);
  });

  test('finds a changed byte where size and time are the same', () => {
    const change = (root: string): void => {
      writeFileSync(path.join(root, 'directory/file'), 'contEnt');
      settle(root);
    };
    // The other name of the inode is the same file.
    expect(aspectsAfter(change)).toEqual(['directory/file content', 'second-name content']);
  });

  test('finds another size', () => {
    const change = (root: string): void => {
      truncateSync(path.join(root, 'sparse'), 4 * 1024 * 1024 + 1);
      settle(root);
    };
    expect(aspectsAfter(change)).toEqual(['sparse size']);
  });

  test('finds holes that were filled with zeros', () => {
    const change = (root: string): void => {
      writeFileSync(path.join(root, 'sparse'), Buffer.alloc(4 * 1024 * 1024));
      settle(root);
    };
    expect(aspectsAfter(change)).toEqual(['sparse holes']);
  });

  test('finds a missing and an extra entry', () => {
    const change = (root: string): void => {
      renameSync(path.join(root, 'sparse'), path.join(root, 'spare'));
      setTimes(treePath(root), 1_700_000_000_123_456_789n);
    };
    expect(aspectsAfter(change)).toEqual(['spare extra', 'sparse missing']);
  });

  test('finds a time that is off by one nanosecond, of a link too', () => {
    const change = (root: string): void => {
      setTimes(treePath(path.join(root, 'directory/link')), 1_700_000_000_123_456_788n);
      setTimes(treePath(root), 1_700_000_000_123_456_790n);
    };
    expect(aspectsAfter(change)).toEqual([' mtime', 'directory/link mtime']);
  });

  test('finds another mode', () => {
    expect(
      aspectsAfter((root) => {
        chmodSync(path.join(root, 'directory'), 0o711);
      }),
    ).toEqual(['directory mode']);
  });

  test('finds a link to elsewhere and a file in the place of a FIFO', () => {
    const change = (root: string): void => {
      for (const entry of ['directory/link', 'fifo']) rmSync(path.join(root, entry));
      symlinkSync('fire', path.join(root, 'directory/link'));
      writeFileSync(path.join(root, 'fifo'), '');
      settle(root);
    };
    expect(aspectsAfter(change)).toEqual(['directory/link target', 'fifo type']);
  });

  test('finds a hard link that became a copy', () => {
    const change = (root: string): void => {
      rmSync(path.join(root, 'second-name'));
      writeFileSync(path.join(root, 'second-name'), 'content');
      setTimes(treePath(path.join(root, 'second-name')), 1_700_000_000_123_456_789n);
      settle(root);
    };
    expect(aspectsAfter(change)).toEqual(['second-name links']);
  });

  test.runIf(hasXattrs)('finds another value of an extended attribute', () => {
    const [left, right] = [makeTree('left'), makeTree('right')];
    const name = bytesOfText('user.comment');
    setXattr(treePath(path.join(left, 'directory')), name, Buffer.from('one'));
    setXattr(treePath(path.join(right, 'directory')), name, Buffer.from('two'));
    setXattr(treePath(path.join(right, 'sparse')), name, Buffer.alloc(0));
    expect(compareTrees(left, right).map(({ path, left: one }) => [path, one])).toEqual([
      ['directory', 'user.comment=0x6f6e65'],
      ['sparse', 'no user.comment'],
    ]);
  });

  test('allows times to differ below the resolution it is told', () => {
    const [left, right] = [makeTree('left'), makeTree('right')];
    setTimes(bytesOfText(right), 1_700_000_000_123_456_000n);
    expect(compareTrees(left, right)).toHaveLength(1);
    expect(compareTrees(left, right, { timeResolution: 1000n })).toEqual([]);
    expect(lstatSync(right, { bigint: true }).mtimeNs).toBe(1_700_000_000_123_456_000n);
  });
});
