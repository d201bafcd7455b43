import { describe, expect, test } from 'vitest';
import type { EntryKind } from '../../../src/exclude/decision.ts';
import { explainExclusion, type Explanation, type SourceTree } from '../../../src/exclude/explain.ts';
import { createExcluder, type ExcludeOptions } from '../../../src/exclude/excluder.ts';
import { asByteString, bytesOfText } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { RequestError } from '../../../src/base/errors.ts';

/** Path -> content; a directory ends in `/`. */
const entries: Readonly<Record<string, string>> = {
  '/src/.gitignore': '# objects\n*.o\n!keep.o\nbuild/\n',
  '/src/a.o': '',
  '/src/a.c': 'int main;',
  '/src/keep.o': '',
  '/src/build/': '',
  '/src/build/deep/': '',
  '/src/build/deep/x': '',
  '/src/cache/': '',
  '/src/cache/CACHEDIR.TAG': 'Signature: 8a477f597d28d172789f06886806bc55',
  '/src/cache/sub/': '',
  '/src/cache/sub/x': '',
  '/src/marked/': '',
  '/src/marked/.nobackup': '',
  '/src/marked/x': '',
  '/src/odd\u001b[31m/': '',
  '/src/odd\u001b[31m/.gitignore': '!keep.o',
  '/src/odd\u001b[31m/keep.o': '',
  '/src/mnt/': '',
  '/src/mnt/x': '',
  '/src/repo/': '',
  '/src/repo/pack': '',
};

const tree: SourceTree = {
  list: (directory) => {
    if (directory !== '/src' && entries[`${directory}/`] === undefined)
      throw new Error(`ENOENT: ${directory}`);
    const below = Object.keys(entries).filter((path) => path.startsWith(`${directory}/`));
    const names = below.map((path) => path.slice(directory.length + 1).split('/')[0] ?? '');
    return [...new Set(names)].filter((name) => name !== '').map(asByteString);
  },
  stat: (path) => {
    const kind: EntryKind = entries[`${path}/`] === undefined ? 'file' : 'directory';
    const content = entries[path] ?? entries[`${path}/`];
    if (content === undefined) return undefined;
    return { kind, size: content.length, device: path.startsWith('/src/mnt') ? 2 : 1 };
  },
};

const options: ExcludeOptions = {
  patterns: [{ pattern: bytesOfText('*.tmp'), from: '--exclude' }],
  ignoreFiles: [asByteString('.gitignore')],
  excludeCaches: true,
  markers: [{ name: asByteString('.nobackup'), header: undefined }],
  largerThan: 50,
  oneFileSystem: true,
  never: [{ path: bytesOfText('/src/repo'), reason: 'the repository itself' }],
};

function explain(
  path: string,
  changed: Partial<ExcludeOptions> = {},
  sources: readonly string[] = [],
): Explanation {
  const excluder = createExcluder(
    { ...options, ...changed },
    { root: bytesOfText('/src'), kind: 'directory', device: 1 },
    {
      read: (file, limit) => Buffer.from(entries[file] ?? '').subarray(0, limit),
      onError: (error) => {
        throw error;
      },
    },
  );
  return explainExclusion(excluder, treePath(path), tree, sources.map(treePath));
}

test.each([
  ['/src', '/src is backed up: no rule leaves it out.'],
  ['/src/a.c', '/src/a.c is backed up: no rule leaves it out.'],
  ['/src/a.o', "/src/a.o is left out: it matches the pattern '*.o' from /src/.gitignore:2."],
  [
    '/src/keep.o',
    "/src/keep.o is backed up: the pattern '!keep.o' from /src/.gitignore:3 includes it again.",
  ],
  [
    '/src/odd\u001b[31m/keep.o',
    "/src/odd\\x1b[31m/keep.o is backed up: the pattern '!keep.o' from /src/odd\\x1b[31m/.gitignore:1 includes it again.",
  ],
  ['/src/build', "/src/build is left out: it matches the pattern 'build/' from /src/.gitignore:4."],
  [
    '/src/build/deep/x',
    "/src/build/deep/x is left out with the directory /src/build: it matches the pattern 'build/' from /src/.gitignore:4.",
  ],
  ['/src/cache', '/src/cache is backed up: no rule leaves it out.'],
  ['/src/cache/CACHEDIR.TAG', '/src/cache/CACHEDIR.TAG is backed up: no rule leaves it out.'],
  [
    '/src/cache/sub/x',
    '/src/cache/sub/x is left out with the directory /src/cache/sub: its directory is marked as a cache by /src/cache/CACHEDIR.TAG.',
  ],
  ['/src/marked/x', '/src/marked/x is left out: its directory holds the marker file /src/marked/.nobackup.'],
  ['/src/mnt', '/src/mnt is backed up as an empty directory: it is on another file system than the source.'],
  [
    '/src/mnt/x',
    '/src/mnt/x is left out: only the directory /src/mnt is stored, because it is on another file system than the source.',
  ],
  ['/src/repo', '/src/repo is left out: it is the repository itself.'],
  ['/src/repo/pack', '/src/repo/pack is left out with the directory /src/repo: it is the repository itself.'],
  ['/src/gone.tmp', "/src/gone.tmp is left out: it matches the pattern '*.tmp' from --exclude."],
  ['/src/gone/new', '/src/gone/new does not exist, but would be backed up: no rule leaves it out.'],
  ['/src/x/build/', "/src/x/build is left out: it matches the pattern 'build/' from /src/.gitignore:4."],
])('explains %s', (path, sentence) => {
  expect(explain(path).sentence).toBe(sentence);
});

test('a file over the size limit is told with both sizes', () => {
  expect(explain('/src/a.c', { largerThan: 8 }).sentence).toBe(
    '/src/a.c is left out: its size, 9 B (9 bytes), is over the limit of 8 B (8 bytes).',
  );
});

test('the decision and the place it was made come along', () => {
  expect(explain('/src/build/deep/x')).toMatchObject({
    path: '/src/build/deep/x',
    excluded: true,
    decidedAt: '/src/build',
    decision: { rule: 'pattern', pattern: 'build/' },
  });
  expect(explain('/src/mnt/x')).toMatchObject({ excluded: true, decidedAt: '/src/mnt' });
  expect(explain('/src/mnt')).toMatchObject({ excluded: false, decidedAt: '/src/mnt' });
});

describe('with a source inside the source', () => {
  test.each([
    [
      '/src/build',
      "/src/build is backed up only as far as it leads to the source /src/build/deep/x: it matches the pattern 'build/' from /src/.gitignore:4.",
    ],
    [
      '/src/build/deep',
      "/src/build/deep is backed up only as far as it leads to the source /src/build/deep/x; the rest of the directory /src/build is left out: it matches the pattern 'build/' from /src/.gitignore:4.",
    ],
    [
      '/src/mnt',
      '/src/mnt is backed up only as far as it leads to the source /src/mnt/x: it is on another file system than the source.',
    ],
    [
      '/src/build/other',
      "/src/build/other is left out with the directory /src/build: it matches the pattern 'build/' from /src/.gitignore:4.",
    ],
    ['/src/cache', '/src/cache is backed up: no rule leaves it out.'],
  ])('explains %s', (path, sentence) => {
    const sources = ['/src', '/src/build/deep/x', '/src/mnt/x', '/src/cache/sub'];
    const explained = explain(path, {}, sources);
    expect(explained.sentence).toBe(sentence);
    expect(explained.excluded).toBe(path === '/src/build/other');
  });
});

test('a source left out as a whole explains everything below it', () => {
  const never = [{ path: bytesOfText('/src'), reason: 'the state directory' }];
  expect(explain('/src/a.c', { never }).sentence).toBe(
    '/src/a.c is left out with the directory /src: it is the state directory.',
  );
});

test('names with control characters are spelled out', () => {
  expect(explain('/src/\u001b[31m.tmp').sentence).toMatch(/^\/src\/\\x1b\[31m\.tmp is left out/);
});

test.each(['/other', '/srcx', 'src/a.c', '/src/../etc', '/src/a.c/below'])('refuses %s', (path) => {
  expect(() => explain(path)).toThrow(RequestError);
});
