import { describe, expect, test } from 'vitest';
import { bytesOfText, type ByteString } from '../../../src/base/byte-path.ts';
import {
  compileSelection,
  withoutPlaces,
  type SelectedDirectory,
} from '../../../src/restorer/request/selection.ts';

const bytes = (texts: readonly string[]): ByteString[] => texts.map(bytesOfText);
const patterns = (texts: readonly string[]) =>
  texts.map((text) => ({ pattern: bytesOfText(text), from: 'test' }));

function select(
  rules: {
    paths?: readonly string[];
    include?: readonly string[];
    exclude?: readonly string[];
    subfolder?: string;
  },
  sources: readonly string[] = ['/'],
): SelectedDirectory {
  return compileSelection(
    {
      paths: bytes(rules.paths ?? []),
      include: patterns(rules.include ?? []),
      exclude: patterns(rules.exclude ?? []),
      subfolder: rules.subfolder === undefined ? undefined : bytesOfText(rules.subfolder),
    },
    bytes(sources),
  );
}

/** `file`: taken; `dir`: chosen with its metadata; `way`: only leads somewhere; undefined: not entered. */
function standing(root: SelectedDirectory, path: string): string | undefined {
  const names = bytes(path.split('/').filter((name) => name !== ''));
  let directory: SelectedDirectory | undefined = root;
  const last = path.endsWith('/') ? undefined : names.pop();
  for (const name of names) directory = directory?.enter(name);
  if (directory === undefined) return undefined;
  if (last !== undefined) return directory.takes(last) ? 'file' : undefined;
  return directory.selected ? 'dir' : 'way';
}

describe('without rules', () => {
  test('everything is chosen', () => {
    const root = select({});
    expect(standing(root, '/a/b/c')).toBe('file');
    expect(standing(root, '/a/b/')).toBe('dir');
  });

  test('directories above the sources only lead to them', () => {
    const root = select({}, ['/home/u/docs', '/etc/app.conf']);
    expect(standing(root, '/')).toBe('way');
    expect(standing(root, '/home/')).toBe('way');
    expect(standing(root, '/home/u/')).toBe('way');
    expect(standing(root, '/home/u/docs/')).toBe('dir');
    expect(standing(root, '/home/u/docs/a')).toBe('file');
    expect(standing(root, '/etc/')).toBe('way');
    expect(standing(root, '/etc/app.conf')).toBe('file');
  });
});

describe('paths', () => {
  const root = select({ paths: ['/a/b', '/c/d.txt', '/c/d.txt/'] });

  test('choose what they name and what is below, and lead there', () => {
    expect(standing(root, '/a/')).toBe('way');
    expect(standing(root, '/a/b/')).toBe('dir');
    expect(standing(root, '/a/b/x/y')).toBe('file');
    expect(standing(root, '/a/other')).toBeUndefined();
    expect(standing(root, '/a/other/')).toBeUndefined();
    expect(standing(root, '/c/d.txt')).toBe('file');
    expect(standing(root, '/c/e.txt')).toBeUndefined();
    expect(standing(root, '/d/')).toBeUndefined();
  });

  test('a path inside of another one adds nothing', () => {
    expect(standing(select({ paths: ['/a', '/a/b/c'] }), '/a/x')).toBe('file');
    expect(standing(select({ paths: ['/a/b/c', '/a'] }), '/a/x')).toBe('file');
  });

  test('the root as a path is everything', () => {
    expect(standing(select({ paths: ['/', '/a'] }), '/b/c')).toBe('file');
  });
});

describe('patterns', () => {
  test('include chooses matches and everything below them, other directories lead on', () => {
    const root = select({ include: ['src', '*.md'] });
    expect(standing(root, '/p/')).toBe('way');
    expect(standing(root, '/p/src/')).toBe('dir');
    expect(standing(root, '/p/src/deep/x.c')).toBe('file');
    expect(standing(root, '/p/readme.md')).toBe('file');
    expect(standing(root, '/p/readme.txt')).toBeUndefined();
  });

  test('an anchored include holds at its place only', () => {
    const root = select({ include: ['/home/u/docs/'] });
    expect(standing(root, '/home/u/docs/a')).toBe('file');
    expect(standing(root, '/other/home/u/docs/a')).toBeUndefined();
    expect(standing(root, '/home/u/docs')).toBeUndefined();
  });

  test('exclude leaves out a match with everything below it, whatever include says', () => {
    const root = select({ include: ['src'], exclude: ['*.o', 'tmp/'] });
    expect(standing(root, '/src/a.o')).toBeUndefined();
    expect(standing(root, '/src/tmp/a.c')).toBeUndefined();
    expect(standing(root, '/src/tmp')).toBe('file');
    expect(standing(root, '/src/a.c')).toBe('file');
  });

  test('a negated exclude takes back in', () => {
    const root = select({ exclude: ['*.log', '!keep.log'] });
    expect(standing(root, '/a/b.log')).toBeUndefined();
    expect(standing(root, '/a/keep.log')).toBe('file');
  });

  test('paths and patterns both have to agree', () => {
    const root = select({ paths: ['/a'], include: ['*.txt'], exclude: ['secret.txt'] });
    expect(standing(root, '/a/x.txt')).toBe('file');
    expect(standing(root, '/a/secret.txt')).toBeUndefined();
    expect(standing(root, '/b/x.txt')).toBeUndefined();
    expect(standing(root, '/a/')).toBe('way');
  });

  test('a pattern that can never match is refused', () => {
    expect(() => select({ include: ['a/../b'] })).toThrow(/can never match/);
  });
});

describe('a subfolder', () => {
  const inside = (rules: Parameters<typeof select>[0]) => select({ ...rules, subfolder: '/home/u' });

  test('is chosen with all that is in it, and nothing beside it', () => {
    const root = inside({});
    expect(standing(root, '/home/')).toBe('way');
    expect(standing(root, '/home/u/')).toBe('dir');
    expect(standing(root, '/home/u/a/b')).toBe('file');
    expect(standing(root, '/home/a')).toBeUndefined();
    expect(standing(root, '/home/v/a')).toBeUndefined();
  });

  test('is where patterns are anchored, those that begin at the root directory too', () => {
    for (const pattern of ['/docs', '/home/u/docs', 'docs/']) {
      const without = inside({ exclude: [pattern] });
      expect(standing(without, '/home/u/docs/a')).toBeUndefined();
      expect(standing(without, '/home/u/other/a')).toBe('file');
      const alone = inside({ include: [pattern] });
      expect(standing(alone, '/home/u/docs/a')).toBe('file');
      expect(standing(alone, '/home/u/other/a')).toBeUndefined();
    }
    expect(standing(inside({ exclude: ['/docs'] }), '/home/u/deep/docs/a')).toBe('file');
  });

  test('was named on purpose: a pattern for its name, or a name above it, is about what is in it', () => {
    for (const name of ['u', 'home']) {
      expect(standing(inside({ exclude: [name] }), '/home/u/a')).toBe('file');
      expect(standing(inside({ include: [name] }), '/home/u/a')).toBeUndefined();
      expect(standing(inside({ exclude: [name] }), `/home/u/${name}/a`)).toBeUndefined();
      expect(standing(inside({ include: [name] }), `/home/u/${name}/a`)).toBe('file');
    }
    expect(standing(inside({ exclude: ['/home/u'] }), '/home/u/a')).toBeUndefined();
    expect(standing(inside({ include: ['/home/u'] }), '/home/u/a')).toBe('file');
  });

  test('and paths both have to agree', () => {
    const root = inside({ paths: ['/home/u/docs'] });
    expect(standing(root, '/home/u/')).toBe('way');
    expect(standing(root, '/home/u/docs/')).toBe('dir');
    expect(standing(root, '/home/u/a')).toBeUndefined();
    expect(standing(inside({ paths: ['/home'] }), '/home/u/a')).toBe('file');
    expect(standing(inside({ paths: ['/home'] }), '/home/v/a')).toBeUndefined();
    expect(standing(inside({ paths: ['/home/v'] }), '/home/u/a')).toBeUndefined();
  });
});

test('without certain paths all else is chosen as it was', () => {
  const root = withoutPlaces(
    select({}, ['/home']),
    bytes(['/home/u/store', '/home/u/a/key']).map((path) => ({ path, ignoresCase: false })),
  );
  expect(standing(root, '/home/')).toBe('dir');
  expect(standing(root, '/home/u/')).toBe('dir');
  expect(standing(root, '/home/u/store')).toBeUndefined();
  expect(standing(root, '/home/u/store/x')).toBeUndefined();
  expect(standing(root, '/home/u/stores/x')).toBe('file');
  expect(standing(root, '/home/u/a/key')).toBeUndefined();
  expect(standing(root, '/home/u/a/other')).toBe('file');
  expect(standing(root, '/home/v/store/x')).toBe('file');
});
