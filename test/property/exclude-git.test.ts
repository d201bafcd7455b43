/** Patterns and ignore files against git itself, on a real tree. */
// Turn 7 of 8.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EntryKind } from '../../src/exclude/decision.ts';
import {
  createExcluder,
  NO_EXCLUSIONS,
  type DirectoryScope,
  type ExcludeOptions,
} from '../../src/exclude/excluder.ts';
import type { PatternSetting } from '../../src/exclude/patterns.ts';
import type { RuleFiles } from '../../src/exclude/tags.ts';
import { asByteString, bytesOfText, joinBytes, type ByteString } from '../../src/base/byte-path.ts';
import { fsPath } from '../../src/base/tree-path.ts';
import { RequestError } from '../../src/base/errors.ts';

/** The tree holds names that are no UTF-8, and names that differ in case only, which macOS does not take. */
const canCompare = process.platform === 'linux' && spawnSync('git', ['--version']).status === 0;

const ignoreName = asByteString('.gitignore');
const directoryNames = ['a', 'b', 'ab', 'a.b', 'B'].map(asByteString);
/** `\u00e9` as UTF-8 (two bytes) and as Latin-1 (one byte that is no UTF-8), and names full of special characters. */
const fileNames =
  'a.o,Ab.O,aa,abab,a b,a ,#a,!a,*,?,[a],],-,^,a\\b,\\,a\tb,.a,a\r,0,_,\u00c3\u00a9,a\u00c3\u00a9.o,\u00e9,\u00ff'
    .split(',')
    .map(asByteString);

/** A tree without its ignore files: two levels of directories below the root, the same files in each. */
interface Directory {
  readonly path: ByteString;
  readonly files: readonly ByteString[];
  readonly directories: readonly Directory[];
}

function describeTree(path: ByteString, levels: number): Directory {
  const below = levels === 0 ? [] : directoryNames;
  return {
    path,
    files: fileNames,
    directories: below.map((name) => describeTree(joinBytes(path, name), levels - 1)),
  };
}

let base = '';
let tree: Directory;
/** Directories that may hold an ignore file. */
let homes: readonly ByteString[] = [];

function createTree(directory: Directory): void {
  mkdirSync(fsPath(directory.path), { recursive: true });
  for (const name of directory.files) writeFileSync(fsPath(joinBytes(directory.path, name)), '');
  for (const child of directory.directories) createTree(child);
}

function runGit(args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('git', args, {
    cwd: base,
    input: Buffer.from(input, 'latin1'),
    encoding: 'latin1',
    maxBuffer: 64 * 1024 * 1024,
    env: { PATH: process.env['PATH'], HOME: base, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
  });
  // check-ignore answers 1 when nothing is ignored.
  if (status !== 0 && status !== 1) throw new Error(`git ${args.join(' ')}: ${String(status)} ${stderr}`);
  return stdout;
}

beforeAll(() => {
  if (!canCompare) return;
  base = mkdtempSync(join(tmpdir(), 'holdfast-exclude-'));
  runGit(['init', '--quiet', '.']);
  const root = bytesOfText(base);
  tree = describeTree(root, 2);
  createTree(tree);
  homes = ['', '/a', '/a/b', '/ab'].map((below) => asByteString(root + below));
});

afterAll(() => {
  if (base !== '') rmSync(base, { recursive: true });
});

const noFiles: RuleFiles = {
  read: () => undefined,
  onError: (error) => {
    throw error;
  },
};

/** Path below the root -> the rule that leaves it out, as `file:line` or the option; '' for what is kept. */
type Verdicts = ReadonlyMap<string, string>;

function ourVerdicts(
  options: Partial<ExcludeOptions>,
  ignoreFiles: ReadonlyMap<ByteString, string>,
): Verdicts {
  const verdicts = new Map<string, string>();
  const excluder = createExcluder(
    { ...NO_EXCLUSIONS, ...options },
    { root: tree.path, kind: 'directory', device: 1 },
    {
      ...noFiles,
      read: (path, limit) => Buffer.from(ignoreFiles.get(path) ?? '', 'latin1').subarray(0, limit),
    },
  );

  const walk = (directory: Directory, parent: DirectoryScope | undefined, inherited: string): void => {
    const names = [...directory.files, ...directory.directories.map(({ path }) => lastName(path))];
    const ignoreFile = joinBytes(directory.path, ignoreName);
    if (ignoreFiles.has(ignoreFile)) names.push(ignoreName);
    const scope = inherited === '' ? excluder.enterDirectory(parent, directory.path, names) : undefined;
    const verdict = (path: ByteString, kind: EntryKind): string => {
      const decision = scope?.decide(lastName(path), kind, 0, 1);
      let from = inherited;
      if (decision?.excluded === true && decision.rule === 'pattern') from = decision.from;
      verdicts.set(path.slice(base.length + 1), from.replace(`${base}/`, ''));
      return from;
    };
    for (const name of directory.files) verdict(joinBytes(directory.path, name), 'file');
    for (const child of directory.directories) walk(child, scope, verdict(child.path, 'directory'));
  };
  walk(tree, undefined, '');
  return verdicts;
}

function lastName(path: ByteString): ByteString {
  return asByteString(path.slice(path.lastIndexOf('/') + 1));
}

/** What git says of each of the paths: the deciding line, unless it is a negated one. */
function gitVerdicts(paths: readonly string[]): Verdicts {
  const fields = runGit(
    ['check-ignore', '--verbose', '--non-matching', '--no-index', '-z', '--stdin'],
    paths.map((path) => `${path}\0`).join(''),
  ).split('\0');
  const verdicts = new Map<string, string>();
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [source = '', line = '', pattern = '', path = ''] = fields.slice(at, at + 4);
    verdicts.set(path, source === '' || pattern.startsWith('!') ? '' : `${source}:${line}`);
  }
  return verdicts;
}

const common = 'a,b,ab,.o,a.,*,*,?,/,/,**/,/**,/**/'.split(',');
const brackets =
  '[ab],[!a],[^b],[a-b],[]a],[!]a],[a-],[*-a-b],[--0],[b-a],[a/b],[\\]],[,[a,[!,],[[a],[*],[[:alpha:]],[[:upper:]],[[:punct:]],[[:space:]x],[[:nosuch:]],[[:alpha]'.split(
    ',',
  );
const special = '\\*,\\?,\\[,\\\\,\\,\\a,\\/,**\\/,\\ , ,#,\\#,!,\\!,-,^,***,**,\t'.split(',');
const rare = [...brackets, ...special];
const beyondAscii = '\u00c3\u00a9,\u00c3,\u00a9,\u00e9,[\u00c3\u00a9],[\u00a0-\u00ff],\u00ff'.split(',');

/**
 * Git before 2.53 loses sight of the text before a `**` when that text holds no wildcard, and then takes
 * `a**` + `/b` for `a` + `**` + `/b`. The documentation says otherwise, and so does this program.
 */
const literalBeforeStars = /^!?\/?[^*?[\\]*[^/*?[\\]\*\*/;

function patterns(tokens: readonly string[]): fc.Arbitrary<string> {
  const body = fc.array(
    fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...common) }, fc.constantFrom(...tokens)),
    {
      minLength: 1,
      maxLength: 5,
    },
  );
  return fc
    .tuple(fc.constantFrom('', '', '', '!', '/', '!/'), body, fc.constantFrom('', '', '', '/', '*'))
    .map(([head, middle, tail]) => head + middle.join('') + tail)
    .filter((pattern) => !literalBeforeStars.test(pattern));
}

const line = fc.oneof(
  { weight: 8, arbitrary: patterns([...rare, ...beyondAscii]) },
  fc.constantFrom(
    '',
    '# a comment',
    '   ',
    '\r',
    '/',
    '!',
    '//',
    '*.o  ',
    '!a\\ ',
    'a\\  ',
    'a \\ ',
    'b\r\r',
  ),
);
const ignoreFileContent = fc
  .record({
    start: fc.constantFrom('', '', '', '\u00ef\u00bb\u00bf'),
    lines: fc.array(line, { minLength: 1, maxLength: 5 }),
    lineEnd: fc.constantFrom('\n', '\n', '\n', '\r\n'),
    lastEnd: fc.boolean(),
  })
  .map(({ start, lines, lineEnd, lastEnd }) => start + lines.join(lineEnd) + (lastEnd ? lineEnd : ''));

const ignoreFileContents = fc.array(fc.option(ignoreFileContent), { minLength: 4, maxLength: 4 });

/** Not `[A]` and `\\A`: git folds the name but not these, so that in git they match neither letter. */
const caseTokens = 'A,B,Ab,.O,[a-b],[A-B],[!A-B],[a],[[:upper:]],[[:lower:]],\\a'.split(',');

/** Those git accepts and this program refuses, because they can never match, are left out. */
function settingPatterns(tokens: readonly string[]): fc.Arbitrary<string[]> {
  return fc.array(patterns(tokens).filter(isAccepted), { minLength: 1, maxLength: 4 });
}

function isAccepted(pattern: string): boolean {
  try {
    createExcluder(
      { ...NO_EXCLUSIONS, patterns: asSettings([pattern], false) },
      { root: asByteString('/'), kind: 'directory', device: 1 },
      noFiles,
    );
    return true;
  } catch (error) {
    if (error instanceof RequestError) return false;
    throw error;
  }
}

function asSettings(texts: readonly string[], ignoreCase: boolean): PatternSetting[] {
  return texts.map((text) => ({ pattern: asByteString(text), from: '--exclude', ignoreCase }));
}

/** Puts one ignore file into each home directory, or none where there is no content. */
function writeIgnoreFiles(contents: readonly (string | null)[]): ReadonlyMap<ByteString, string> {
  const ignoreFiles = new Map<ByteString, string>();
  for (const [index, home] of homes.entries()) {
    const path = joinBytes(home, ignoreName);
    const content = contents[index] ?? null;
    rmSync(fsPath(path), { force: true });
    if (content === null) continue;
    writeFileSync(fsPath(path), content, 'latin1');
    ignoreFiles.set(path, content);
  }
  return ignoreFiles;
}

/** `?` is one byte in git and one character in a pattern of the command line: only ASCII names compare. */
const asciiOnly = /^\p{ASCII}*$/u;

function excludedFiles(verdicts: Verdicts): string[] {
  const files = [...verdicts].filter(
    ([path, rule]) =>
      rule !== '' && asciiOnly.test(path) && !directoryNames.includes(lastName(asByteString(path))),
  );
  return files.map(([path]) => path).sort();
}

function gitIgnoredFiles(settings: readonly string[], ignoreCase: boolean): string[] {
  const listed = runGit([
    '-c',
    `core.ignorecase=${String(ignoreCase)}`,
    'ls-files',
    '--others',
    '--ignored',
    '-z',
    `--exclude-per-directory=${ignoreName}`,
    ...settings.map((setting) => `--exclude=${setting}`),
  ]).split('\0');
  return listed
    .filter((path) => path !== '' && lastName(asByteString(path)) !== ignoreName && asciiOnly.test(path))
    .sort();
}

/** Each of them starts git. */
const runs = Number(process.env['EXCLUDE_RUNS'] ?? 50);

describe.skipIf(!canCompare)('exclude rules beside git', () => {
  test('name the same line of the same ignore file for every path of a tree', () => {
    let excludedPaths = 0;
    fc.assert(
      fc.property(ignoreFileContents, (contents) => {
        const ignoreFiles = writeIgnoreFiles(contents);
        const ours = ourVerdicts({ ignoreFiles: [ignoreName] }, ignoreFiles);
        const theirs = gitVerdicts([...ours.keys()]);
        expect(Object.fromEntries(ours)).toEqual(Object.fromEntries(theirs));
        excludedPaths += [...ours.values()].filter((rule) => rule !== '').length;
      }),
      { numRuns: runs },
    );
    expect(excludedPaths).toBeGreaterThan(0);
  });

  test('put patterns of the command line before those of ignore files', () => {
    let excludedPaths = 0;
    fc.assert(
      fc.property(settingPatterns(rare), ignoreFileContents, (settings, contents) => {
        const ignoreFiles = writeIgnoreFiles(contents);
        const options = { ignoreFiles: [ignoreName], patterns: asSettings(settings, false) };
        const ours = excludedFiles(ourVerdicts(options, ignoreFiles));
        expect(ours).toEqual(gitIgnoredFiles(settings, false));
        excludedPaths += ours.length;
      }),
      { numRuns: runs },
    );
    expect(excludedPaths).toBeGreaterThan(0);
  });

  test('take upper and lower case for the same when asked to', () => {
    let excludedPaths = 0;
    writeIgnoreFiles([]);
    fc.assert(
      fc.property(settingPatterns(caseTokens), (settings) => {
        const ours = excludedFiles(ourVerdicts({ patterns: asSettings(settings, true) }, new Map()));
        expect(ours).toEqual(gitIgnoredFiles(settings, true));
        excludedPaths += ours.length;
      }),
      { numRuns: runs },
    );
    expect(excludedPaths).toBeGreaterThan(0);
  });
});
