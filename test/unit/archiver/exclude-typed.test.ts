import { describe, expect, test } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import {
  compileIgnoreFile,
  compileSettings,
  decidingRule,
  enterPatterns,
  NO_PATTERNS,
  ruleForRoot,
  typedPattern,
  type PatternLayer,
} from '../../../src/exclude/patterns.ts';

const bytes = asByteString;

test.each([
  ['*.tmp', '*.tmp'],
  [String.raw`build\tmp`, 'build/tmp'],
  ['build\\', 'build/'],
  [String.raw`C:\Users\u\Cache`, '/C/Users/u/Cache'],
  ['c:\\Users\\u\\Cache\\', '/C/Users/u/Cache/'],
  [String.raw`!C:\Users\u\*.txt`, '!/C/Users/u/*.txt'],
  [String.raw`\\server\share\x`, '/UNC/server/share/x'],
  [String.raw`\[draft\]`, String.raw`\[draft\]`],
  [String.raw`\!important`, String.raw`\!important`],
  ['ends\\ ', 'ends\\ '],
  ['/anchored/here', '/anchored/here'],
])('on Windows %j means %j', (typed, meant) => {
  expect(typedPattern(typed, 'win32')).toBe(meant);
});

test('elsewhere a pattern is what was typed', () => {
  expect(typedPattern(String.raw`C:\x\*.tmp`, 'linux')).toBe(String.raw`C:\x\*.tmp`);
});

describe('where file systems ignore case', () => {
  const source = bytes('/C/Data');
  const decides = (layer: PatternLayer, name: string): boolean => {
    const { rules } = enterPatterns(NO_PATTERNS, layer, [], source);
    return decidingRule(rules, bytes(name), true) !== undefined;
  };
  const excluded = (pattern: string, ignoreCase: boolean): PatternLayer =>
    compileSettings([{ pattern: typedPattern(pattern, 'win32'), from: '--exclude' }], source, ignoreCase);

  test('patterns do so too, wherever they are written', () => {
    expect(decides(excluded('SUB', true), 'sub')).toBe(true);
    const lines = bytes('Node_Modules\nGr\u00c3\u00b6\u00c3\u009fe');
    const file = compileIgnoreFile(lines, bytes('/C/Data/.ignore'), source, true);
    expect(decides(file, 'node_modules')).toBe(true);
    expect(decides(file, 'GR\u00c3\u0096\u00c3\u009fE')).toBe(true);
  });

  test('an absolute pattern is one of the source in any spelling', () => {
    expect(ruleForRoot(excluded(String.raw`c:\DATA`, true), source, true)?.negated).toBe(false);
  });

  test('and nowhere else', () => {
    expect(decides(excluded('SUB', false), 'sub')).toBe(false);
  });
});
