import { describe, expect, test } from 'vitest';
import { KEEP, MOUNT_POINT, type Decision, type EntryKind } from '../../../src/exclude/decision.ts';
import type { RuleFiles } from '../../../src/exclude/tags.ts';
import {
  createExcluder,
  NO_EXCLUSIONS,
  type DirectoryScope,
  type Excluder,
  type ExcludeOptions,
} from '../../../src/exclude/excluder.ts';
import { asByteString, bytesOfText } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { RequestError, type SourceError } from '../../../src/base/errors.ts';

const signature = 'Signature: 8a477f597d28d172789f06886806bc55';
const ignoreFiles = [asByteString('.gitignore')];

function patterns(...texts: string[]): ExcludeOptions['patterns'] {
  return texts.map((text) => ({ pattern: bytesOfText(text), from: '--exclude' }));
}

interface TestFiles extends RuleFiles {
  readonly reads: string[];
  readonly errors: SourceError[];
}

function testFiles(contents: Readonly<Record<string, string>> = {}): TestFiles {
  const reads: string[] = [];
  const errors: SourceError[] = [];
  return {
    reads,
    errors,
    read: (path, limit) => {
      reads.push(path);
      const content = contents[path];
      return content === undefined ? undefined : Buffer.from(content).subarray(0, limit);
    },
    onError: (error) => errors.push(error),
  };
}

function excluderFor(options: Partial<ExcludeOptions>, files: RuleFiles = testFiles()): Excluder {
  return createExcluder(
    { ...NO_EXCLUSIONS, ...options },
    { root: bytesOfText('/src'), kind: 'directory', device: 1 },
    files,
  );
}

function enter(
  excluder: Excluder,
  path: string,
  names: readonly string[] = [],
  parent?: DirectoryScope,
): DirectoryScope {
  return excluder.enterDirectory(parent, treePath(path), names.map(bytesOfText));
}

function decide(
  scope: DirectoryScope,
  name: string,
  kind: EntryKind = 'file',
  size = 0,
  device = 1,
): Decision {
  return scope.decide(bytesOfText(name), kind, size, device);
}

test('without rules every directory has the same scope, and every entry is kept', () => {
  const excluder = excluderFor({});
  const root = enter(excluder, '/src', ['CACHEDIR.TAG', '.gitignore']);
  expect(enter(excluder, '/src/a', [], root)).toBe(root);
  expect(decide(root, 'a', 'directory', 0, 2)).toBe(KEEP);
  expect(excluder.rootDecision).toBe(KEEP);
});

describe('ignore files', () => {
  const files = testFiles({
    '/src/.gitignore': '*.o\n/only-here\n!kept.o\n',
    '/src/sub/.gitignore': '!*.o\nx/y\n',
    '/src/.holdfastignore': '!a.o\n',
  });

  test('apply below their directory, and the deeper one wins', () => {
    const excluder = excluderFor({ ignoreFiles }, files);
    const root = enter(excluder, '/src', ['.gitignore', 'a.o', 'sub']);
    const sub = enter(excluder, '/src/sub', ['.gitignore', 'x'], root);
    const x = enter(excluder, '/src/sub/x', ['y'], sub);
    const other = enter(excluder, '/src/other', [], root);
    expect(decide(root, 'a.o')).toEqual({
      excluded: true,
      rule: 'pattern',
      pattern: '*.o',
      from: '/src/.gitignore:1',
    });
    expect(decide(root, 'kept.o')).toBe(KEEP);
    expect(decide(root, 'only-here')).toMatchObject({ from: '/src/.gitignore:2' });
    expect(decide(sub, 'only-here')).toBe(KEEP);
    expect(decide(sub, 'a.o')).toBe(KEEP);
    expect(decide(x, 'a.o')).toBe(KEEP);
    expect(decide(x, 'y')).toMatchObject({ pattern: 'x/y', from: '/src/sub/.gitignore:2' });
    expect(decide(other, 'a.o')).toMatchObject({ from: '/src/.gitignore:1' });
  });

  test('give way to patterns of the command line', () => {
    const excluder = excluderFor({ ignoreFiles, patterns: patterns('!a.o', 'kept.o') }, files);
    const root = enter(excluder, '/src', ['.gitignore']);
    expect(decide(root, 'a.o')).toBe(KEEP);
    expect(decide(root, 'b.o')).toMatchObject({ from: '/src/.gitignore:1' });
    expect(decide(root, 'kept.o')).toMatchObject({ from: '--exclude' });
  });

  test('in one directory count in the order of their names in the options', () => {
    const both = ['.gitignore', '.holdfastignore'].map(asByteString);
    const names = ['.gitignore', '.holdfastignore'];
    expect(decide(enter(excluderFor({ ignoreFiles: both }, files), '/src', names), 'a.o')).toBe(KEEP);
    const reversed = excluderFor({ ignoreFiles: both.toReversed() }, files);
    expect(decide(enter(reversed, '/src', names), 'a.o')).toMatchObject({ pattern: '*.o' });
  });

  test('are read only where they are present and asked for', () => {
    const counted = testFiles({ '/src/.gitignore': '*' });
    enter(excluderFor({ ignoreFiles }, counted), '/src', ['a']);
    enter(excluderFor({ patterns: patterns('x') }, counted), '/src', ['.gitignore']);
    expect(counted.reads).toEqual([]);
  });

  test('match names byte by byte, as git does', () => {
    const bytewise = testFiles({ '/src/.gitignore': '?.a\n??.b\né.c\n' });
    const root = enter(excluderFor({ ignoreFiles }, bytewise), '/src', ['.gitignore']);
    expect(decide(root, 'é.a')).toBe(KEEP);
    expect(decide(root, 'é.b')).toMatchObject({ pattern: '??.b' });
    expect(decide(root, 'é.c')).toMatchObject({ pattern: 'é.c' });
    expect(root.decide(asByteString('\u00ff.a'), 'file', 0, 1)).toMatchObject({ pattern: '?.a' });
  });

  test('that are too large are reported and have no effect', () => {
    const large = testFiles({ '/src/.gitignore': `*\n${'#'.repeat(1024 * 1024)}` });
    const root = enter(excluderFor({ ignoreFiles }, large), '/src', ['.gitignore']);
    expect(decide(root, 'a')).toBe(KEEP);
    expect(large.errors.map(({ code }) => code)).toEqual(['EXCLUDE_FILE_TOO_LARGE']);
  });

  test('that cannot be read are reported, and the rules from above still apply', () => {
    const unreadable: TestFiles = {
      ...testFiles(),
      read: () => {
        throw new Error('EIO');
      },
    };
    const excluder = excluderFor({ ignoreFiles, patterns: patterns('*.o') }, unreadable);
    expect(decide(enter(excluder, '/src', ['.gitignore']), 'a.o')).toMatchObject({ pattern: '*.o' });
    expect(unreadable.errors.map(({ code }) => code)).toEqual(['EXCLUDE_FILE_UNREADABLE']);
  });

  test('must have plain names', () => {
    expect(() => excluderFor({ ignoreFiles: [asByteString('a/b')] })).toThrow(RequestError);
  });
});

test('a tagged directory keeps its tag, which other rules may still leave out', () => {
  const files = testFiles({ '/src/c/CACHEDIR.TAG': signature });
  const names = ['CACHEDIR.TAG', 'data'];
  const tagged = enter(excluderFor({ excludeCaches: true }, files), '/src/c', names);
  expect(decide(tagged, 'CACHEDIR.TAG')).toBe(KEEP);
  expect(decide(tagged, 'data')).toMatchObject({ rule: 'cache-directory', tag: '/src/c/CACHEDIR.TAG' });
  expect(decide(tagged, 'sub', 'directory')).toMatchObject({ rule: 'cache-directory' });
  const both = enter(
    excluderFor({ excludeCaches: true, patterns: patterns('*.TAG', '!data') }, files),
    '/src/c',
    names,
  );
  expect(decide(both, 'CACHEDIR.TAG')).toMatchObject({ rule: 'pattern' });
  expect(decide(both, 'data')).toMatchObject({ rule: 'cache-directory' });
});

test('a directory with a marker keeps the marker only', () => {
  const excluder = excluderFor({ markers: [{ name: asByteString('.nobackup'), header: undefined }] });
  const marked = enter(excluder, '/src/m', ['.nobackup', 'data']);
  expect(decide(marked, '.nobackup')).toBe(KEEP);
  expect(decide(marked, 'data')).toMatchObject({ rule: 'marker', marker: '/src/m/.nobackup' });
  expect(decide(enter(excluder, '/src/n', ['data']), 'data')).toBe(KEEP);
});

test('a size limit leaves out regular files above it', () => {
  const root = enter(excluderFor({ largerThan: 100 }), '/src');
  expect(decide(root, 'a', 'file', 100)).toBe(KEEP);
  expect(decide(root, 'a', 'file', 101)).toEqual({
    excluded: true,
    rule: 'larger-than',
    size: 101,
    limit: 100,
  });
  expect(decide(root, 'a', 'directory', 4096)).toBe(KEEP);
  expect(decide(root, 'a', 'other', 4096)).toBe(KEEP);
  expect(decide(enter(excluderFor({ largerThan: 0 }), '/src'), 'a', 'file', 1)).toMatchObject({ limit: 0 });
});

test('on one file system a mount point is kept empty, and files are not judged by their device', () => {
  const root = enter(excluderFor({ oneFileSystem: true }), '/src');
  expect(decide(root, 'mnt', 'directory', 0, 2)).toBe(MOUNT_POINT);
  expect(decide(root, 'here', 'directory', 0, 1)).toBe(KEEP);
  expect(decide(root, 'file', 'file', 0, 2)).toBe(KEEP);
  const excluded = enter(excluderFor({ oneFileSystem: true, patterns: patterns('mnt') }), '/src');
  expect(decide(excluded, 'mnt', 'directory', 0, 2)).toMatchObject({ rule: 'pattern' });
});

describe('paths that are never backed up', () => {
  const never = (path: string): ExcludeOptions['never'] => [
    { path: treePath(path), reason: 'the repository' },
  ];
  const exclusion = { excluded: true, rule: 'never', reason: 'the repository' };

  test('are left out by path and not by name, and no pattern takes them back in', () => {
    for (const path of ['/src/a/repo', '/src/a/repo/']) {
      const excluder = excluderFor({ never: never(path), patterns: patterns('!repo') });
      const root = enter(excluder, '/src');
      expect(decide(root, 'repo', 'directory')).toBe(KEEP);
      expect(decide(enter(excluder, '/src/a', [], root), 'repo', 'directory')).toEqual(exclusion);
    }
  });

  test('work with no other rule, and directly below the root directory', () => {
    expect(decide(enter(excluderFor({ never: never('/src/repo') }), '/src'), 'repo', 'directory')).toEqual(
      exclusion,
    );
    const fromTop = createExcluder(
      { ...NO_EXCLUSIONS, never: never('/repo') },
      { root: bytesOfText('/'), kind: 'directory', device: 1 },
      testFiles(),
    );
    expect(decide(enter(fromTop, '/'), 'repo', 'directory')).toEqual(exclusion);
  });

  test('leave out a source that is such a path or lies in one', () => {
    expect(excluderFor({ never: never('/src') }).rootDecision).toEqual(exclusion);
    expect(excluderFor({ never: never('/') }).rootDecision).toMatchObject({
      reason: 'inside the repository',
    });
    expect(excluderFor({ never: never('/sr') }).rootDecision).toBe(KEEP);
    expect(excluderFor({ never: never('/src/a') }).rootDecision).toBe(KEEP);
  });

  test('must be absolute, and so must the source', () => {
    expect(() => excluderFor({ never: never('repo') })).toThrow(RequestError);
    const relative = { root: bytesOfText('src'), kind: 'directory', device: 1 } as const;
    expect(() => createExcluder(NO_EXCLUSIONS, relative, testFiles())).toThrow('not an absolute path');
  });
});

test('the source itself is left out by an absolute pattern for it, and by no other', () => {
  expect(excluderFor({ patterns: patterns('/src') }).rootDecision).toMatchObject({ pattern: '/src' });
  expect(excluderFor({ patterns: patterns('/src', '!/src') }).rootDecision).toBe(KEEP);
  expect(excluderFor({ patterns: patterns('src', '*', '/*') }).rootDecision).toBe(KEEP);
});
