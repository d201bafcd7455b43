/** Somebody puts another directory, or a link to one, in the place of theirs while it is backed up by somebody who may read both. */
import { chmodSync, lstatSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { bytesOfText, type ByteString } from '../../src/base/byte-path.ts';
import type { Entry } from '../../src/format/tree.ts';
import { native } from '../../src/system/native.ts';
import { openEngine, type Engine } from '../support/engine.ts';
import { hasXattrs, setXattr } from '../support/libc.ts';

let engine: Engine;

const at = (name: string): string => join(engine.source, name);

beforeEach(async () => {
  engine = await openEngine();
  for (const directory of ['theirs', 'theirs/below', 'zclosed', 'zclosed/below']) mkdirSync(at(directory));
  for (const owner of ['theirs', 'zclosed']) {
    symlinkSync(`secret-of-${owner}`, at(`${owner}/link`));
    writeFileSync(at(`${owner}/file`), `content of ${owner}`);
    writeFileSync(at(`${owner}/below/deep`), `deep in ${owner}`);
  }
  writeFileSync(at('zclosed/only-here'), 'a name that is closed, too');
  chmodSync(at('zclosed'), 0o700);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await engine[Symbol.asyncDispose]();
});

/** Their directory gives way at once to what `instead` puts there. */
function swap(instead: 'link' | 'directory'): void {
  renameSync(at('theirs'), at('theirs-before'));
  if (instead === 'link') symlinkSync(at('zclosed'), at('theirs'));
  else renameSync(at('zclosed'), at('theirs'));
}

/** Does it once, right behind the look at an entry of that name in their directory. */
function onLookAt(wanted: string, act: () => void): void {
  if (native === null) return;
  const real = native.findEntry;
  let isDone = false;
  vi.spyOn(native, 'findEntry').mockImplementation((directory, name) => {
    const stat = real(directory, name);
    if (name === wanted && !isDone) {
      isDone = true;
      act();
    }
    return stat;
  });
}

async function stored(): Promise<ReadonlyMap<ByteString, Entry>> {
  const { snapshot } = await engine.backup();
  return await engine.treeOf(snapshot);
}

function entryAt(tree: ReadonlyMap<ByteString, Entry>, name: string): Entry | undefined {
  return tree.get(bytesOfText(at(name)));
}

/** All that was stored, contents aside. */
function textOf(tree: ReadonlyMap<ByteString, Entry>): string {
  return [...tree]
    .filter(([path]) => path.includes('/theirs'))
    .map(([path, entry]) => `${path} ${entry.type === 'symlink' ? entry.target : ''}`)
    .join('\n');
}

describe.skipIf(native === null)('in the place of their directory', () => {
  test('a link that comes behind the look at an entry brings no target of another link', async () => {
    onLookAt('link', () => swap('link'));
    const tree = await stored();
    expect(entryAt(tree, 'theirs/link')).toMatchObject({ target: 'secret-of-theirs' });
  });

  test('a closed directory that comes behind the look at an entry brings nothing of what is in it', async () => {
    onLookAt('link', () => swap('directory'));
    const tree = await stored();
    expect(entryAt(tree, 'theirs/link')).toMatchObject({ target: 'secret-of-theirs' });
    expect(entryAt(tree, 'theirs/file')).toBeUndefined();
    expect(entryAt(tree, 'theirs/below/deep')).toBeUndefined();
  });

  test('a closed directory that comes before the names are read is stored as closed as it is', async () => {
    const closed = lstatSync(at('zclosed'));
    let isDone = false;
    const directory = (path: ByteString): void => {
      if (path !== bytesOfText(at('theirs')) || isDone) return;
      isDone = true;
      swap('directory');
    };
    const { snapshot } = await engine.backup([engine.source], {}, { directory });
    const tree = await engine.treeOf(snapshot);
    // As if it had been there from the beginning: not as open as what had been met.
    expect(entryAt(tree, 'theirs')).toMatchObject({ mode: 0o700, inode: closed.ino });
    expect(entryAt(tree, 'theirs/only-here')).toBeDefined();
    expect(snapshot.record.errors).toMatchObject([{ path: at('zclosed'), code: 'ENOENT' }]);
  });

  test('a link that comes before the names are read is stored as a link, and shows none of what it leads to', async () => {
    let isDone = false;
    const directory = (path: ByteString): void => {
      if (path !== bytesOfText(at('theirs')) || isDone) return;
      isDone = true;
      swap('link');
    };
    const { snapshot } = await engine.backup([engine.source], {}, { directory });
    const tree = await engine.treeOf(snapshot);
    expect(entryAt(tree, 'theirs')).toMatchObject({ type: 'symlink', target: at('zclosed') });
    expect(textOf(tree)).toBe(`${at('theirs')} ${at('zclosed')}`);
    expect(snapshot.record.errors).toEqual([]);
  });

  test.each(['link', 'directory'] as const)(
    'a %s that comes on the way to a directory shows nothing of what is below it',
    async (instead) => {
      let isDone = false;
      const directory = (path: ByteString): void => {
        if (path !== bytesOfText(at('theirs/below')) || isDone) return;
        isDone = true;
        swap(instead);
      };
      const { snapshot } = await engine.backup([engine.source], {}, { directory });
      const tree = await engine.treeOf(snapshot);
      expect(isDone).toBe(true);
      expect(entryAt(tree, 'theirs/below')).toBeUndefined();
      expect(textOf(tree)).not.toContain('deep');
      expect(snapshot.record.errors.map(({ path }) => path)).toContain(at('theirs/below'));
    },
  );

  test.skipIf(!hasXattrs)('attributes are those of the entry that was looked at', async () => {
    setXattr(bytesOfText(at('theirs/below')), bytesOfText('user.of'), Buffer.from('theirs'));
    setXattr(bytesOfText(at('zclosed/below')), bytesOfText('user.of'), Buffer.from('closed'));
    onLookAt('below', () => swap('directory'));
    const directory = (path: ByteString): void => {
      if (path !== bytesOfText(at('theirs/below'))) return;
      renameSync(at('theirs'), at('zclosed'));
      renameSync(at('theirs-before'), at('theirs'));
    };
    const { snapshot } = await engine.backup([engine.source], {}, { directory });
    const tree = await engine.treeOf(snapshot);
    const values = entryAt(tree, 'theirs/below')?.xattrs?.map(({ value }) => value.toString());
    expect(values).toEqual(['theirs']);
  });

  test('rules are read by no link that comes behind the look at the names', async () => {
    writeFileSync(at('theirs/.holdfastignore'), 'nothing-at-all\n');
    writeFileSync(at('zclosed/.holdfastignore'), 'file\n');
    const { native: calls } = await import('../../src/system/native.ts');
    const real = calls?.listDirectory;
    if (calls === null || real === undefined) return;
    let isDone = false;
    vi.spyOn(calls, 'listDirectory').mockImplementation((fd, cutShort) => {
      const names = real(fd, cutShort);
      const isTheirs = names.some((name) => name === 'link') && names.every((name) => name !== 'only-here');
      if (isTheirs && !isDone) swap('link');
      isDone ||= isTheirs;
      return names;
    });
    const names = [bytesOfText('.holdfastignore')];
    const problems: string[] = [];
    const exclude = {
      patterns: [],
      ignoreFiles: names,
      excludeCaches: false,
      markers: [],
      largerThan: undefined,
      oneFileSystem: false,
      never: [],
    };
    const { snapshot } = await engine.backup(
      [engine.source],
      { exclude },
      { ruleProblem: (error) => problems.push(error.code) },
    );
    const tree = await engine.treeOf(snapshot);
    // a file that is gone is a problem; one that rules leave out is none
    expect(entryAt(tree, 'theirs/link')).toMatchObject({ target: 'secret-of-theirs' });
    expect(JSON.stringify(snapshot.record.errors)).toContain('theirs/file');
  });
});

test('a directory whose owner closed it before it was opened is stored as closed', async () => {
  chmodSync(at('theirs'), 0o755);
  let isDone = false;
  const directory = (path: ByteString): void => {
    if (path !== bytesOfText(at('theirs')) || isDone) return;
    isDone = true;
    chmodSync(at('theirs'), 0o700);
  };
  const { snapshot } = await engine.backup([engine.source], {}, { directory });
  expect(entryAt(await engine.treeOf(snapshot), 'theirs')).toMatchObject({ mode: 0o700 });
});
