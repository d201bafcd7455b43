import { appendFileSync, mkdirSync, readdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createExcluder, NO_EXCLUSIONS, type ExcludeOptions } from '../../src/exclude/excluder.ts';
import { explainExclusion, type SourceTree } from '../../src/exclude/explain.ts';
import { readRuleFile } from '../../src/archiver/walk/rule-files.ts';
import { kindOf, openDirectory, statPath } from '../../src/archiver/source/stat.ts';
import { asByteString, bytesOfText, type ByteString } from '../../src/base/byte-path.ts';
import { entryOf, openEngine, type Engine } from '../support/engine.ts';

let engine: Engine;
const at = (name: string): string => join(engine.source, name);

beforeEach(async () => {
  engine = await openEngine();
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

function patterns(...texts: readonly string[]): Pick<ExcludeOptions, 'patterns'> {
  return { patterns: texts.map((text) => ({ pattern: bytesOfText(text), from: '--exclude' })) };
}

/** Makes files with their directories. */
function make(...names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), name);
  }
}

async function storedBelowSource(exclude: Partial<ExcludeOptions>): Promise<readonly string[]> {
  const { snapshot } = await engine.backup(undefined, { exclude: { ...NO_EXCLUSIONS, ...exclude } });
  const prefix = `${engine.source}/`;
  const paths = [...(await engine.treeOf(snapshot)).keys()];
  return paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
}

describe('what is left out', () => {
  test('does not appear, and comes back when the rule goes', async () => {
    make('keep/file', 'keep/file.o', 'skip/file', 'skip/deep/file');
    expect(await storedBelowSource(patterns('*.o', '/skip'))).toEqual(['keep', 'keep/file']);
    expect(await storedBelowSource(patterns('*.o'))).toContain('skip/deep/file');
    expect(await storedBelowSource({})).toContain('keep/file.o');
    expect(await storedBelowSource(patterns('/keep'))).not.toContain('keep');
  });

  test('the repository itself, when it lies in the source', async () => {
    const store = at('backups/repository');
    make('backups/note', 'file');
    mkdirSync(store);
    writeFileSync(join(store, 'object'), 'stored');
    const never = [{ path: bytesOfText(store), reason: 'the repository itself' }];
    expect(await storedBelowSource({ never })).toEqual(['backups', 'backups/note', 'file']);
  });

  test('what lies below a marker, the marker kept', async () => {
    make('cache/CACHEDIR.TAG', 'cache/deep/file', 'cache/file', 'other/.nobackup', 'other/file');
    writeFileSync(at('cache/CACHEDIR.TAG'), 'Signature: 8a477f597d28d172789f06886806bc55\n# a cache\n');
    const marker = { name: bytesOfText('.nobackup'), header: undefined };
    expect(await storedBelowSource({ excludeCaches: true, markers: [marker] })).toEqual([
      'cache',
      'cache/CACHEDIR.TAG',
      'other',
      'other/.nobackup',
    ]);
  });

  test.runIf(process.platform === 'linux')(
    'what is on another file system: its mount point is kept as an empty directory',
    async () => {
      const source = '/dev';
      const device = statPath(asByteString(source))?.dev;
      const mounted = readdirSync(source).filter((name) => {
        const stat = statPath(asByteString(`${source}/${name}`));
        return stat !== undefined && kindOf(stat) === 'directory' && stat.dev !== device;
      });
      const { snapshot } = await engine.backup([source], {
        exclude: { ...NO_EXCLUSIONS, oneFileSystem: true },
      });
      for (const name of mounted) {
        const entry = await entryOf(engine, snapshot, `${source}/${name}`, 'directory');
        expect(entry.totals.entries, name).toBe(0);
      }
      expect(snapshot.record.counts.others).toBeGreaterThan(0);
    },
  );
});

describe('with a change set', () => {
  const ignore = { ignoreFiles: [bytesOfText('.ignore')] };
  let hiddenRules = true;
  const run = async (...dirty: readonly string[]): Promise<readonly string[]> => {
    const directories = new Set(dirty.map((name) => bytesOfText(at(name))));
    const { snapshot, known } = await engine.backup(undefined, {
      exclude: { ...NO_EXCLUSIONS, ...ignore },
      changes: { directories, hiddenRules },
      learn: true,
    });
    hiddenRules = known?.notes.hiddenRules ?? true;
    const prefix = at('project/');
    const paths = [...(await engine.treeOf(snapshot)).keys()].filter((path) => path.startsWith(prefix));
    return paths.map((path) => path.slice(prefix.length)).filter((path) => path.startsWith('src/deep/'));
  };

  test('a changed file of rules counts for directories that nobody touched', async () => {
    make('project/.ignore', 'project/src/deep/file.c', 'project/src/deep/file.o');
    writeFileSync(at('project/.ignore'), '*.tmp\n');
    expect(await run()).toEqual(['src/deep/file.c', 'src/deep/file.o']);
    writeFileSync(at('project/.ignore'), '*.obj\n*.o\n');
    expect(await run('project')).toEqual(['src/deep/file.c']);
    unlinkSync(at('project/.ignore'));
    expect(await run('project')).toEqual(['src/deep/file.c', 'src/deep/file.o']);
    make('project/other');
    renameSync(at('project/other'), at('project/.ignore'));
    writeFileSync(at('project/.ignore'), '*.c\n');
    expect(await run('project')).toEqual(['src/deep/file.o']);
  });

  describe('a file of rules that the snapshot does not have', () => {
    const change = (): void => appendFileSync(at('project/src/deep/file.c'), 'more');

    test('goes on taking back in what the rules above it leave out', async () => {
      make('project/.ignore', 'project/src/.ignore', 'project/src/deep/file.c', 'project/src/deep/file.o');
      writeFileSync(at('project/.ignore'), '*.o\n');
      writeFileSync(at('project/src/.ignore'), '.ignore\n!*.o\n');
      expect(await run()).toEqual(['src/deep/file.c', 'src/deep/file.o']);
      for (let again = 0; again < 2; again += 1) {
        change();
        expect(await run('project/src/deep')).toEqual(['src/deep/file.c', 'src/deep/file.o']);
      }
    });

    test('goes on leaving out what it names', async () => {
      make('project/src/.ignore', 'project/src/deep/file.c', 'project/src/deep/file.o');
      writeFileSync(at('project/src/.ignore'), '.*\n*.o\n');
      expect(await run()).toEqual(['src/deep/file.c']);
      for (let again = 0; again < 2; again += 1) {
        change();
        expect(await run('project/src/deep')).toEqual(['src/deep/file.c']);
      }
    });

    test('counts no more once it is gone, also where nobody touched anything', async () => {
      make('project/src/.ignore', 'project/src/deep/file.c', 'project/src/deep/file.o');
      writeFileSync(at('project/src/.ignore'), '.*\n*.o\n');
      expect(await run()).toEqual(['src/deep/file.c']);
      change();
      expect(await run('project/src/deep')).toEqual(['src/deep/file.c']);
      unlinkSync(at('project/src/.ignore'));
      expect(await run('project/src')).toEqual(['src/deep/file.c', 'src/deep/file.o']);
    });
  });
});

/** The tree as `explainExclusion` wants it, read from the disk. */
const disk: SourceTree = {
  list: (directory) => {
    const listed = openDirectory(directory);
    listed.close();
    return listed.names;
  },
  stat: (path) => {
    const stat = statPath(path);
    if (stat === undefined) return undefined;
    const kind = kindOf(stat);
    return {
      kind: kind === 'file' || kind === 'directory' ? kind : 'other',
      size: stat.size,
      device: Number(stat.dev),
    };
  },
};

const name = fc.constantFrom('a', 'b', 'c', 'build', 'x.o', 'y.c', '.cache', 'n\n', 'caf\u00e9');
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const pattern = fc.constantFrom(
  '*.o',
  '!x.o',
  'build/',
  '/a',
  '/a/b',
  'a/*/c',
  '**/c',
  '/**/b/x.o',
  '!/a/b',
  'b/**',
  '?',
  '[ab]',
  '!c',
  'caf?',
  '\\!x',
);
const rules = fc.record({
  files: fc.uniqueArray(path, { minLength: 4, maxLength: 16 }),
  patterns: fc.array(pattern, { maxLength: 4 }),
  ignored: fc.array(fc.tuple(path, fc.array(pattern, { minLength: 1, maxLength: 3 })), { maxLength: 3 }),
  tagged: fc.array(path, { maxLength: 1 }),
  largerThan: fc.option(fc.integer({ min: 2, max: 12 }), { nil: undefined }),
  /** Sources inside the source, by where they are among all entries. */
  inner: fc.array(fc.nat(1_000), { maxLength: 3 }),
});

test('explaining a path says what a backup really does with it', async () => {
  let lane = 0;
  let leftOut = 0;
  await fc.assert(
    fc.asyncProperty(rules, async (wanted) => {
      lane += 1;
      const root = `lane-${lane}`;
      mkdirSync(at(root));
      // Where a name is wanted both as a file and as a directory the first one stays.
      const write = (file: string, content: string): void => {
        try {
          mkdirSync(dirname(at(`${root}/${file}`)), { recursive: true });
          writeFileSync(at(`${root}/${file}`), content, { flag: 'wx' });
        } catch (error) {
          if (!(error instanceof Error && 'code' in error)) throw error;
          if (!['EEXIST', 'ENOTDIR', 'EISDIR'].includes(String(error.code))) throw error;
        }
      };
      for (const file of wanted.files) write(file, file);
      for (const [file, lines] of wanted.ignored) write(`${dirname(file)}/.ignore`, lines.join('\n'));
      for (const file of wanted.tagged)
        write(`${dirname(file)}/CACHEDIR.TAG`, 'Signature: 8a477f597d28d172789f06886806bc55');
      const exclude: ExcludeOptions = {
        ...NO_EXCLUSIONS,
        ...patterns(...wanted.patterns),
        ignoreFiles: [bytesOfText('.ignore')],
        excludeCaches: true,
        largerThan: wanted.largerThan,
      };

      const source = bytesOfText(at(root));
      const all = everythingBelow(source);
      const inner = wanted.inner.flatMap((index) => all[index % all.length] ?? []);
      const sources = [source, ...inner].toSorted((a, b) => b.length - a.length);
      const { snapshot } = await engine.backup(undefined, { exclude, sources });
      const stored = await engine.treeOf(snapshot);
      for (const entry of all) {
        // The innermost one that it lies in decides.
        const own = sources.find((one) => `${entry}/`.startsWith(`${one}/`)) ?? source;
        const excluder = createExcluder(
          exclude,
          { root: own, kind: disk.stat(own)?.kind ?? 'directory', device: Number(statPath(own)?.dev) },
          { read: readRuleFile, onError: (error) => expect.fail(error.message) },
        );
        const { excluded, sentence } = explainExclusion(excluder, entry, disk, sources);
        expect(stored.has(entry), sentence).toBe(!excluded);
        if (excluded) leftOut += 1;
      }
    }),
    { numRuns: 25 },
  );
  expect(leftOut).toBeGreaterThan(50);
});

function everythingBelow(directory: ByteString): readonly ByteString[] {
  const found: ByteString[] = [];
  for (const entry of readdirSync(Buffer.from(directory, 'latin1'), {
    withFileTypes: true,
    encoding: 'latin1',
  })) {
    const below = asByteString(`${directory}/${entry.name}`);
    found.push(below);
    if (entry.isDirectory()) found.push(...everythingBelow(below));
  }
  return found;
}
