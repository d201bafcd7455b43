/** Sources that lie inside of other sources: each is backed up as if it had been named alone. */

import { appendFileSync, chmodSync, mkdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ArchiveSummary } from '../../src/archiver/archive.ts';
import { estimate } from '../../src/archiver/estimate.ts';
import { NO_EXCLUSIONS, type ExcludeOptions } from '../../src/exclude/excluder.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { bytesOfText, type ByteString } from '../../src/base/byte-path.ts';
import { treePath } from '../../src/base/tree-path.ts';
import type { SourceError } from '../../src/base/errors.ts';
import type { EntryProblem } from '../../src/format/records.ts';
import { native } from '../../src/system/native.ts';
import { entryOf, never, openEngine, requestFor, type Engine } from '../support/engine.ts';
import { moduleUrl, runScript } from '../support/run-script.ts';

let engine: Engine;
const at = (name: string): string => join(engine.source, name);

beforeEach(async () => {
  engine = await openEngine();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await engine[Symbol.asyncDispose]();
});

function make(...names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), name);
  }
}

function without(...texts: readonly string[]): ExcludeOptions {
  return {
    ...NO_EXCLUSIONS,
    patterns: texts.map((text) => ({ pattern: bytesOfText(text), from: '--exclude' })),
  };
}

/** What a snapshot has below the source directory. */
async function stored({ snapshot }: ArchiveSummary): Promise<readonly string[]> {
  const prefix = `${engine.source}/`;
  const paths = [...(await engine.treeOf(snapshot)).keys()];
  return paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
}

function problems({ snapshot }: ArchiveSummary): readonly (readonly [string, string])[] {
  return snapshot.record.errors.map(({ path, code }) => [path.slice(engine.source.length + 1), code]);
}

/** Has entries of these names lie on other file systems than the rest, as many as there are numbers. */
function mount(systems: Readonly<Record<string, bigint>>): void {
  if (native === null) return;
  const { findEntry, fstat } = native;
  const devices = new Map<bigint, bigint>();
  vi.spyOn(native, 'findEntry').mockImplementation((directory, name) => {
    const found = findEntry(directory, name);
    const system = systems[name];
    if (found === undefined || system === undefined) return found;
    const dev = found.dev + system * 1_000n;
    devices.set(found.ino, dev);
    return { ...found, dev };
  });
  vi.spyOn(native, 'fstat').mockImplementation((fd) => {
    const found = fstat(fd);
    return { ...found, dev: devices.get(found.ino) ?? found.dev };
  });
}

describe('a source inside another one', () => {
  test('is backed up although the other one leaves out what it lies in', async () => {
    make('a.c', 'cache/junk', 'cache/important/deep/file', 'cache/important/cache/too', 'z.c');
    const exclude = without('cache');
    const run = await engine.backup([engine.source, at('cache/important')], { exclude });
    expect(await stored(run)).toEqual([
      'a.c',
      'cache',
      'cache/important',
      'cache/important/deep',
      'cache/important/deep/file',
      'z.c',
    ]);
    expect(run.snapshot.record.paths).toEqual([engine.source, at('cache/important')]);
    expect(run.snapshot.record.counts).toMatchObject({ files: 3, directories: 3 + aboveSource() });
  });

  test('is backed up although a marker or a size leaves out what it lies in', async () => {
    make('cache/.nobackup', 'cache/important/file', 'cache/junk', 'large');
    const marker = { name: bytesOfText('.nobackup'), header: undefined };
    const exclude = { ...NO_EXCLUSIONS, markers: [marker], largerThan: 3 };
    const run = await engine.backup([engine.source, at('cache/important/file'), at('large')], { exclude });
    expect(await stored(run)).toEqual(['cache', 'cache/important', 'cache/important/file', 'large']);
  });

  test.runIf(native !== null)('is backed up although it is, or lies on, another file system', async () => {
    make('disk/photos/file', 'disk/other', 'home/ana/file', 'home/mounted/file', 'tmp/file');
    mount({ disk: 1n, home: 2n, ana: 2n, mounted: 3n, tmp: 4n });
    const exclude = { ...NO_EXCLUSIONS, oneFileSystem: true };
    const alone = await engine.backup(undefined, { exclude });
    expect(await stored(alone)).toEqual(['disk', 'home', 'tmp']);
    const run = await engine.backup([engine.source, at('home'), at('disk/photos')], { exclude });
    expect(await stored(run)).toEqual([
      'disk',
      'disk/photos',
      'disk/photos/file',
      'home',
      'home/ana',
      'home/ana/file',
      'home/mounted',
      'tmp',
    ]);
  });

  test('has rules of its own: patterns begin at it, and files with rules count from it on', async () => {
    make('.ignore', 'build/file', 'x.log', 'inner/.ignore', 'inner/build/file', 'inner/x.log', 'inner/x.tmp');
    writeFileSync(at('.ignore'), '*.log\n');
    writeFileSync(at('inner/.ignore'), '*.tmp\n');
    const exclude = { ...without('/build'), ignoreFiles: [bytesOfText('.ignore')] };
    const outer = await engine.backup(undefined, { exclude });
    expect(await stored(outer)).toEqual([
      '.ignore',
      'inner',
      'inner/.ignore',
      'inner/build',
      'inner/build/file',
    ]);
    const both = await engine.backup([engine.source, at('inner')], { exclude });
    expect(await stored(both)).toEqual(['.ignore', 'inner', 'inner/.ignore', 'inner/x.log']);
  });

  test('and inside that one yet another, each with what the ones around it leave out', async () => {
    make('skip/one/skip/two/skip/three', 'skip/one/file', 'skip/no', 'skip/one/skip/no');
    const exclude = without('skip');
    const run = await engine.backup([at('skip/one/skip/two'), engine.source, at('skip/one')], { exclude });
    expect(await stored(run)).toEqual([
      'skip',
      'skip/one',
      'skip/one/file',
      'skip/one/skip',
      'skip/one/skip/two',
    ]);
  });

  test('that is left out itself, by its whole path, does not take those inside it along', async () => {
    make('a/no', 'a/b/no', 'a/b/c/file');
    const told: SourceError[] = [];
    const run = await engine.backup(
      [at('a'), at('a/b'), at('a/b/c')],
      { exclude: without(at('a/b')) },
      { ruleProblem: (error) => told.push(error) },
    );
    expect(await stored(run)).toEqual(['a', 'a/b', 'a/b/c', 'a/b/c/file', 'a/no']);
    expect(told.map(({ code, details }) => [code, details])).toEqual([
      ['SOURCE_LEFT_OUT', { path: at('a/b') }],
    ]);
  });

  test('that is named twice, or changes nothing, is stored once', async () => {
    make('a/file', 'b/file');
    const plain = await engine.backup();
    const run = await engine.backup([at('a'), engine.source, at('a')], { parent: 'none' });
    expect(await idOf(run)).toEqual(await idOf(plain));
    expect(run.snapshot.record.counts).toMatchObject({ files: 2 });
  });

  test('that does not exist is a problem, and nothing else is', async () => {
    make('a/file', 'z');
    for (const parent of ['none', 'auto'] as const) {
      const run = await engine.backup([engine.source, at('a/gone'), at('m/gone')], { parent });
      expect(problems(run)).toEqual([
        ['m/gone', 'ENOENT'],
        ['a/gone', 'ENOENT'],
      ]);
      const told = run.snapshot.record.errors.map(({ message }) => message);
      expect(told).toEqual(['the source does not exist', 'the source does not exist']);
      expect(await stored(run)).toEqual(['a', 'a/file', 'z']);
    }
  });

  test('that a file is in the place of is a problem, and the file is stored', async () => {
    make('a', 'b');
    const run = await engine.backup([engine.source, at('a/b/c')]);
    expect(problems(run)).toEqual([['a/b/c', 'ENOTDIR']]);
    expect(await stored(run)).toEqual(['a', 'b']);
  });

  test('is found in a directory whose names cannot be read', async () => {
    chmodSync(engine.directory, 0o755);
    make('shut/inner/file', 'shut/other');
    chmodSync(at('shut'), 0o711);
    const script = `
      import { openEngine } from ${JSON.stringify(moduleUrl('test/support/engine.ts'))};
      await using engine = await openEngine();
      const { snapshot } = await engine.backup(process.argv.slice(2));
      const { errors } = snapshot.record;
      process.stdout.write(JSON.stringify({ errors, paths: [...(await engine.treeOf(snapshot)).keys()] }));
    `;
    const isRoot = process.getuid?.() === 0;
    if (!isRoot) chmodSync(at('shut'), 0o311);
    const args = [engine.source, at('shut/inner')];
    const output = await runScript(script, { args, ...(isRoot ? { uid: 65_534 } : {}) });
    chmodSync(at('shut'), 0o755);
    const report: { errors: readonly EntryProblem[]; paths: readonly ByteString[] } = JSON.parse(output);
    expect(report.errors.map(({ path, code }) => [path, code])).toEqual([[at('shut'), 'EACCES']]);
    expect(report.paths.filter((path) => path.startsWith(`${engine.source}/`))).toEqual([
      at('shut'),
      at('shut/inner'),
      at('shut/inner/file'),
    ]);
  });

  test('is in the estimate as it is in the backup', async () => {
    make('cache/important/file', 'cache/junk', 'file');
    const sources = [engine.source, at('cache/important')];
    const exclude = without('cache');
    const request = requestFor(engine.repository, sources, { exclude });
    const { counters, bytesTotal } = await estimate(request, SILENT, never);
    const { counts } = (await engine.backup(sources, { exclude })).snapshot.record;
    expect(counters).toMatchObject({ filesNew: counts.files, directories: counts.directories });
    expect(bytesTotal).toBe(counts.bytes);
  });
});

describe('the next run', () => {
  const exclude = (): ExcludeOptions => ({
    ...without('cache', '*.tmp'),
    ignoreFiles: [bytesOfText('.ignore')],
  });
  const sources = (): readonly string[] => [engine.source, at('cache/important'), at('plain/inner')];
  const run = async (options: Parameters<Engine['backup']>[1]): Promise<ArchiveSummary> =>
    await engine.backup(sources(), { exclude: exclude(), learn: true, ...options });

  const changes: Readonly<Record<string, readonly [change: () => void, ...dirty: readonly string[]]>> = {
    'nothing at all': [() => {}],
    'a file of the inner source': [
      () => appendFileSync(at('cache/important/deep/file'), 'more'),
      'cache/important/deep',
    ],
    'a file of the outer one': [() => appendFileSync(at('plain/file'), 'more'), 'plain'],
    'what both leave out': [() => make('cache/more', 'plain/inner/x.tmp'), 'cache', 'plain/inner'],
    'new files in the inner source': [() => make('plain/inner/new/file'), 'plain/inner'],
    'the inner source, which goes': [() => rmSync(at('plain/inner'), { recursive: true }), 'plain'],
    'the rules around the inner source': [() => writeFileSync(at('plain/.ignore'), 'inner\nfile\n'), 'plain'],
    'the rules around it, which go': [() => unlinkSync(at('.ignore')), '.'],
  };

  test.each(Object.keys(changes))(
    'finds what a whole one finds, when there has changed: %s',
    async (name) => {
      make(
        '.ignore',
        'cache/junk',
        'cache/important/deep/file',
        'cache/important/file',
        'plain/file',
        'plain/x.o',
      );
      make('plain/inner/deep/file', 'plain/inner/x.o');
      writeFileSync(at('.ignore'), '*.o\n');
      // Files touched within the last tick before a run are read again by the next one.
      await delay(40);
      const first = await run({ parent: 'none' });
      const [change, ...dirty] = changes[name] ?? [];
      change?.();
      const directories = new Set(dirty.map((path) => treePath(join(engine.source, path))));
      const parent = { snapshot: first.snapshot.id };
      const beside = await run({ parent });
      const told = await run({ parent, changes: { directories, hiddenRules: false } });
      const passedOver = await run({
        parent,
        changes: { directories, hiddenRules: false },
        known: first.known,
      });
      const whole = await run({ parent: 'none' });
      for (const one of [beside, told, passedOver]) {
        expect(await stored(one)).toEqual(await stored(whole));
        expect(await idOf(one)).toEqual(await idOf(whole));
        expect(held(one)).toEqual(held(whole));
        expect(problems(one)).toEqual(problems(whole));
      }
      expect(await stored(whole)).toContain('cache/important/deep/file');
    },
  );

  test('has what an earlier one missed, which was made of the outer source alone', async () => {
    make('cache/important/file', 'file');
    const first = await engine.backup(undefined, { exclude: exclude() });
    const second = await run({ parent: { snapshot: first.snapshot.id } });
    expect(await stored(second)).toContain('cache/important/file');
    const third = await engine.backup(undefined, {
      exclude: exclude(),
      parent: { snapshot: second.snapshot.id },
    });
    expect(await stored(third)).toEqual(['file']);
  });
});

/** What stands for everything in the source directory. */
async function idOf({ snapshot }: ArchiveSummary): Promise<Buffer> {
  return (await entryOf(engine, snapshot, engine.source, 'directory')).id;
}

/** How much of each kind a snapshot holds, whatever was new. */
function held({ snapshot }: ArchiveSummary): object {
  const { files, directories, links, others, bytes } = snapshot.record.counts;
  return { files, directories, links, others, bytes };
}

/** Directories on the way to the source directory, itself among them. */
function aboveSource(): number {
  return engine.source.split('/').length - 1;
}
