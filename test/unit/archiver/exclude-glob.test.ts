import { describe, expect, test } from 'vitest';
import { compileGlob, matchSegments } from '../../../src/exclude/glob.ts';
import { foldCase } from '../../../src/exclude/name-forms.ts';

function matches(pattern: string, path: string, folded = false): boolean {
  const segments = compileGlob(pattern, { fold: folded ? foldCase : undefined });
  if (typeof segments === 'string') throw new Error(segments);
  return matchSegments(segments, (folded ? foldCase(path) : path).split('/'), 0, folded);
}

describe('a pattern within one name', () => {
  test.each([
    ['a', 'a', true],
    ['a', 'ab', false],
    ['*', 'anything', true],
    ['*.o', '.o', true],
    ['*.o', 'a.o.c', false],
    ['a*b', 'ab', true],
    ['ab*ba', 'aba', false],
    ['*a*b*', 'xbxaxbx', true],
    ['*a*b', 'ba', false],
    ['*ab*ab', 'ab', false],
    ['?', 'a', true],
    ['?', '', false],
    ['?*?', 'a', false],
    ['[a-c]x*', 'bxyz', true],
    ['*[0-9]?', 'ab7c', true],
    ['*[0-9]', 'ab7c', false],
    ['[]-a]', ']', true],
    ['[!]a]', ']', false],
    ['[c-a]', 'c', true],
    ['[c-a]', 'b', false],
    ['[a-c-e]', 'd', false],
    ['[a-c-e]', '-', true],
    ['[[:digit:]x]', 'x', true],
    ['[[:digit:]x]', ':', false],
    ['[[:space:]]', '\v', false],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['\\a', 'a', true],
  ])('%s against %s: %s', (pattern, name, expected) => {
    expect(matches(pattern, name)).toBe(expected);
  });

  test.each([
    ['a\\', 'trailing backslash'],
    ['a[', 'unclosed bracket'],
    ['[]', 'unclosed bracket'],
    ['[a-', 'unclosed bracket'],
    ['[a-\\', 'unclosed bracket'],
    ['[[:alpha:]', 'unclosed bracket'],
    ['[[:alpha', 'unclosed bracket'],
    ['[[:letters:]]', 'unknown character class'],
  ])('%s has a fault: %s', (pattern, fault) => {
    expect(compileGlob(pattern, { fold: undefined })).toBe(fault);
  });

  test('takes a character beyond the basic plane for one', () => {
    expect(matches('a?b', 'a\u{1f600}b')).toBe(true);
    expect(matches('a??b', 'a\u{1f600}b')).toBe(false);
    expect(matches('*?\u{1f601}', '\u{1f600}\u{1f601}')).toBe(true);
    expect(matches('*[!\u{1f600}]', '\u{1f600}')).toBe(false);
    expect(matches('[\u{1f5ff}-\u{1f601}]', '\u{1f600}')).toBe(true);
  });

  test('compares literals and brackets without case when folded', () => {
    expect(matches('ÄPFEL', 'äpfel', true)).toBe(true);
    expect(matches('*.JPG', 'photo.jpg', true)).toBe(true);
    expect(matches('[A]?', 'ab', true)).toBe(true);
    expect(matches('[a]?', 'AB', true)).toBe(true);
    expect(matches('[!A-C]', 'b', true)).toBe(false);
    expect(matches('[[:upper:]]', 'b', true)).toBe(true);
    expect(matches('ΟΔΟΣ', 'οδος', true)).toBe(true);
    expect(matches('*.jpg', 'photo.JPG')).toBe(false);
  });
});

describe('a pattern over several names', () => {
  test.each([
    ['a/b', 'a/b', true],
    ['a/b', 'a/b/c', false],
    ['a/*', 'a/b/c', false],
    ['**/b', 'b', true],
    ['**/b', 'x/y/b', true],
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['a/**/b', 'x/a/b', false],
    ['a/**', 'a', false],
    ['a/**', 'a/x/y', true],
    ['a/***/b', 'a/b', true],
    ['**/a/**/b', 'x/a/y/a/z/b', true],
    ['a/**/b/**/c', 'a/b/x/c/y', false],
    ['a[/]b', 'a/b', false],
    ['a\\/b', 'a/b', true],
    ['a/**\\/b', 'a/b', false],
    ['a/**\\/b', 'a/x/y/b', true],
    ['a//b', 'a/b', false],
  ])('%s against %s: %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  test('a double star beside other text is a single one, as gitignore(5) says', () => {
    expect(matches('foo**/bar', 'foobaz/bar')).toBe(true);
    expect(matches('foo**/bar', 'foobar')).toBe(false);
    expect(matches('foo**/bar', 'foobaz/x/bar')).toBe(false);
    expect(matches('**foo/bar', 'x/foo/bar')).toBe(false);
  });
});

test.each([
  ['*a*a*a*a*a*a*a*a*a*a*a*ab', 'a'.repeat(255)],
  ['*[a]*[a]*[a]*[a]*[a]*[a]*[a]*[a]*?b', 'a'.repeat(255)],
  ['**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/b', Array.from({ length: 1000 }, () => 'a').join('/')],
])('answers the hostile pattern %s at once', (pattern, path) => {
  const start = performance.now();
  expect(matches(pattern, path)).toBe(false);
  expect(performance.now() - start).toBeLessThan(4_000);
});
