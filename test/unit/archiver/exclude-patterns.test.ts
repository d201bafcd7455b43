import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compileIgnoreFile,
  compileSettings,
  decidingRule,
  enterPatterns,
  NO_PATTERNS,
  parsePatternFile,
  ruleForRoot,
  type PatternSetting,
} from '../../../src/exclude/patterns.ts';
import { asByteString, bytesOfText, type ByteString } from '../../../src/base/byte-path.ts';
import { treePath } from '../../../src/base/tree-path.ts';
import { RequestError } from '../../../src/base/errors.ts';

function setting(pattern: string, ignoreCase = false): PatternSetting {
  return { pattern: bytesOfText(pattern), from: '--exclude', ignoreCase };
}

/** The pattern that decides about a file or, with a `/` at its end, a directory; its parents are entered unasked. */
function deciding(settings: readonly PatternSetting[], root: string, path: string): string | undefined {
  const isDirectory = path.endsWith('/');
  const bytes = bytesOfText(isDirectory ? path.slice(0, -1) : path);
  return decidingBytes(settings, treePath(root), bytes, isDirectory);
}

function decidingBytes(
  settings: readonly PatternSetting[],
  root: ByteString,
  path: ByteString,
  isDirectory = false,
): string | undefined {
  const slash = path.lastIndexOf('/');
  const directory = asByteString(path.slice(0, slash) || '/');
  const { rules } = enterPatterns(NO_PATTERNS, compileSettings(settings, root), [], directory);
  return decidingRule(rules, asByteString(path.slice(slash + 1)), isDirectory)?.exclusion.pattern;
}

describe('patterns of the command line', () => {
  test('without a slash match a name anywhere', () => {
    expect(deciding([setting('*.o')], '/src', '/src/a.o')).toBe('*.o');
    expect(deciding([setting('*.o')], '/src', '/src/x/y/a.o')).toBe('*.o');
    expect(deciding([setting('cache/')], '/src', '/src/x/cache/')).toBe('cache/');
    expect(deciding([setting('cache/')], '/src', '/src/x/cache')).toBeUndefined();
  });

  test('with a slash are relative to the source root', () => {
    expect(deciding([setting('/build')], '/src', '/src/build')).toBe('/build');
    expect(deciding([setting('/build')], '/src', '/src/x/build')).toBeUndefined();
    expect(deciding([setting('x/build')], '/src', '/src/x/build')).toBe('x/build');
    expect(deciding([setting('x/build')], '/src', '/src/y/x/build')).toBeUndefined();
    expect(deciding([setting('/*')], '/src', '/src/a')).toBe('/*');
    expect(deciding([setting('/*')], '/src', '/src/a/b')).toBeUndefined();
    expect(deciding([setting('/home/u')], '/', '/home/u')).toBe('/home/u');
  });

  test('the last match wins, and a negated one takes back in', () => {
    const settings = [setting('*.o'), setting('!keep.o'), setting('x/*.o')];
    expect(deciding(settings, '/src', '/src/a.o')).toBe('*.o');
    expect(deciding(settings, '/src', '/src/keep.o')).toBe('!keep.o');
    expect(deciding(settings, '/src', '/src/x/keep.o')).toBe('x/*.o');
  });

  test('may be absolute paths at or below the source root', () => {
    const below = [setting('/home/u/cache')];
    expect(deciding(below, '/home/u', '/home/u/cache')).toBe('/home/u/cache');
    expect(deciding(below, '/home/u/', '/home/u/cache')).toBe('/home/u/cache');
    expect(deciding(below, '/home/u', '/home/u/x/cache')).toBeUndefined();
    expect(deciding([setting('/home/u/*/tmp')], '/home/u', '/home/u/x/tmp')).toBe('/home/u/*/tmp');
    expect(deciding([setting('/home/*/tmp')], '/home/u', '/home/u/tmp')).toBe('/home/*/tmp');
    expect(deciding([setting('/home/**/tmp')], '/home/u', '/home/u/x/y/tmp')).toBe('/home/**/tmp');
    expect(deciding([setting('/home/u/**')], '/home/u', '/home/u/x/y')).toBe('/home/u/**');
    expect(deciding([setting('!/home/u/cache')], '/home/u', '/home/u/cache')).toBe('!/home/u/cache');
  });

  test('are not taken for absolute when they only begin like the source root', () => {
    expect(deciding([setting('/home/v/cache')], '/home/u', '/home/u/cache')).toBeUndefined();
    expect(deciding([setting('/home/v/cache')], '/home/u', '/home/u/home/v/cache')).toBe('/home/v/cache');
    expect(deciding([setting('/home')], '/home/u', '/home/u/home')).toBe('/home');
    expect(deciding([setting('/*/u')], '/home', '/home/x/u')).toBe('/*/u');
  });

  test('decide about the source root itself only as absolute paths', () => {
    const rule = (pattern: string, isDirectory = true): string | undefined =>
      ruleForRoot(
        compileSettings([setting(pattern)], bytesOfText('/home/u')),
        bytesOfText('/home/u'),
        isDirectory,
      )?.exclusion.pattern;
    expect(rule('/home/u')).toBe('/home/u');
    expect(rule('/home/u/')).toBe('/home/u/');
    expect(rule('/home/u/', false)).toBeUndefined();
    expect(rule('u')).toBeUndefined();
    expect(rule('*')).toBeUndefined();
    expect(rule('/*')).toBeUndefined();
    expect(rule('/home/*')).toBeUndefined();
    expect(rule('/home/u/**')).toBeUndefined();
  });

  test('see characters, not bytes, in names that are UTF-8', () => {
    expect(deciding([setting('?.txt')], '/src', '/src/é.txt')).toBe('?.txt');
    expect(deciding([setting('[äö].txt')], '/src', '/src/ö.txt')).toBe('[äö].txt');
    expect(deciding([setting('[!a].txt')], '/src', '/src/日.txt')).toBe('[!a].txt');
    expect(deciding([setting('/ümlaut/?')], '/src', '/src/ümlaut/é')).toBe('/ümlaut/?');
    expect(deciding([setting('*é*')], '/src', '/src/café.txt')).toBe('*é*');
  });

  test('ignore case when asked to, in directories too', () => {
    expect(deciding([setting('*.JPG', true)], '/src', '/src/a.jpg')).toBe('*.JPG');
    expect(deciding([setting('/Äpfel/*', true)], '/src', '/src/äPFEL/x')).toBe('/Äpfel/*');
    expect(deciding([setting('/HOME/u/cache', true)], '/home/U', '/home/U/Cache')).toBe('/HOME/u/cache');
    expect(deciding([setting('*.JPG')], '/src', '/src/a.jpg')).toBeUndefined();
  });

  test('a # at the start and blanks at the end are part of the name', () => {
    expect(deciding([setting('#*#')], '/src', '/src/#a#')).toBe('#*#');
    expect(deciding([setting('a ')], '/src', '/src/a ')).toBe('a ');
    expect(deciding([setting('a ')], '/src', '/src/a')).toBeUndefined();
  });

  test('match names that are not UTF-8', () => {
    const name = asByteString('/src/caf\u00e9.txt');
    for (const pattern of ['caf*', 'caf?.txt', '*[!a].txt']) {
      expect(decidingBytes([setting(pattern)], bytesOfText('/src'), name)).toBe(pattern);
      expect(decidingBytes([setting(pattern, true)], bytesOfText('/src'), name)).toBe(pattern);
    }
    expect(decidingBytes([setting('café.txt')], bytesOfText('/src'), name)).toBeUndefined();
  });

  test.each(['', '!', '/', '!/', '//', 'a//b', './a', '../a', 'a/..', 'a\\', '[a', '[[:x:]]', '/a/./b'])(
    'are refused when they can never match: %j',
    (pattern) => {
      expect(() => compileSettings([setting(pattern)], bytesOfText('/src'))).toThrow(RequestError);
      expect(() => compileSettings([setting(pattern, true)], bytesOfText('/src'))).toThrow('can never match');
    },
  );

  test('never fail in another way, whatever the bytes of pattern and path', () => {
    const bytes = fc
      .array(fc.constantFrom(...Array.from('ab*?[]!-\\/: \u00c3\u00a9\u00ff')), {
        minLength: 1,
        maxLength: 10,
      })
      .map((characters) => asByteString(characters.join('')));
    fc.assert(
      fc.property(bytes, bytes, fc.boolean(), (pattern, path, ignoreCase) => {
        try {
          decidingBytes([{ pattern, from: 'x', ignoreCase }], asByteString('/a'), asByteString(`/a/${path}`));
        } catch (error) {
          expect(error).toBeInstanceOf(RequestError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('pattern files', () => {
  test('are lists of lines without comments, empty lines and spaces at the end', () => {
    const content = '*.o\n\n# comment\r\n a b  \r\n\\#x\nc\\ \nd\\\\  \n   \n\te\t';
    expect(parsePatternFile(asByteString(content))).toEqual([
      { pattern: '*.o', line: 1 },
      { pattern: ' a b', line: 4 },
      { pattern: '\\#x', line: 5 },
      { pattern: 'c\\ ', line: 6 },
      { pattern: 'd\\\\', line: 7 },
      { pattern: '\te\t', line: 9 },
    ]);
  });

  test('keep lines that can never match without effect', () => {
    const layer = compileIgnoreFile(
      asByteString('[a\n*.o\nb\\'),
      bytesOfText('/src/.gitignore'),
      bytesOfText('/src'),
    );
    expect(layer.rules.map(({ exclusion }) => exclusion)).toEqual([
      { excluded: true, rule: 'pattern', pattern: '*.o', from: '/src/.gitignore:2' },
    ]);
  });
});
