/** Something else comes to a path between the look at it and the reading of what is there, as upgrades and checkouts do it. */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ArchiveSummary } from '../../src/archiver/archive.ts';
import { MOST_LOOKS } from '../../src/archiver/source/same-entry.ts';
import { Scout } from '../../src/archiver/source/scout.ts';
import { bytesOfText, type ByteString } from '../../src/base/byte-path.ts';
import { treePath } from '../../src/base/tree-path.ts';
import type { Entry } from '../../src/format/tree.ts';
import { native } from '../../src/system/native.ts';
import { openEngine, type Engine } from '../support/engine.ts';
import type { ArchiveRequest } from '../../src/archiver/archive-request.ts';

let engine: Engine;
const at = (name: string): string => join(engine.source, name);

beforeEach(async () => {
  engine = await openEngine();
  mkdirSync(at('app/part'), { recursive: true });
  for (const name of ['app/first', 'app/part/second', 'beside']) writeFileSync(at(name), `old ${name}`);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await engine[Symbol.asyncDispose]();
});

let generation = 0;

/** A whole new directory in the place of the one at the path, which goes out of the source. */
function upgrade(path: string): void {
  generation += 1;
  const next = join(engine.directory, `next-${generation}`);
  mkdirSync(join(next, 'new'), { recursive: true });
  for (const name of ['first', 'new/third', 'new/fourth']) writeFileSync(join(next, name), `new ${name}`);
  renameSync(path, join(engine.directory, `before-${generation}`));
  renameSync(next, path);
}

/** `act` comes once, when the walk is about to open a directory that it has looked at: the first of that path. */
async function backupWith(
  act: () => void,
  {
    before = at('app'),
    times = 1,
    sources,
    overrides = {},
  }: {
    before?: string;
    times?: number;
    sources?: readonly string[];
    overrides?: Partial<ArchiveRequest>;
  } = {},
): Promise<ArchiveSummary> {
  let left = times;
  const directory = (path: ByteString): void => {
    if (path !== bytesOfText(before) || left === 0) return;
    left -= 1;
    act();
  };
  return await engine.backup(sources, overrides, { directory });
}

function problemsOf({ snapshot }: ArchiveSummary): readonly (readonly [string, string])[] {
  return snapshot.record.errors.map(({ path, code }) => [path.slice(engine.source.length + 1), code]);
}

async function entryAt({ snapshot }: ArchiveSummary, name: string): Promise<Entry | undefined> {
  return (await engine.treeOf(snapshot)).get(bytesOfText(at(name)));
}

describe('a directory that another one takes the place of before it is opened', () => {
  test('is stored as it is then, with all that is in it', async () => {
    const summary = await backupWith(() => upgrade(at('app')));
    expect(problemsOf(summary)).toEqual([]);
    expect(summary.snapshot.record.counts).toMatchObject({ files: 4, failed: 0 });
    expect(await engine.differences(summary.snapshot)).toEqual([]);
  });

  test('is stored so too where the snapshot before has it, and only changes are looked at', async () => {
    await delay(40);
    const first = await engine.backup(undefined, { learn: true });
    const dirty = { directories: new Set([treePath(engine.source)]), hiddenRules: false };
    const others = { changes: dirty, known: first.known, learn: true };
    upgrade(at('app'));
    const second = await backupWith(() => upgrade(at('app')), { overrides: others });
    expect(problemsOf(second)).toEqual([]);
    expect(await engine.differences(second.snapshot)).toEqual([]);
    const { directories, files } = (await engine.backup(undefined, { parent: 'none' })).snapshot.record
      .counts;
    expect(second.snapshot.record.counts).toMatchObject({ directories, files });
  });

  test('is listed and not stored as an empty one when it is another one each time', async () => {
    await engine.backup();
    const summary = await backupWith(() => upgrade(at('app')), { times: 100 });
    expect(problemsOf(summary)).toEqual([['app', 'CHANGED']]);
    expect(summary.snapshot.record.status).toBe('partial');
    expect(await entryAt(summary, 'app')).toBeUndefined();
    expect(await entryAt(summary, 'beside')).toBeDefined();
    const again = await engine.backup();
    expect(again.snapshot.record.status).toBe('complete');
    expect(await engine.differences(again.snapshot)).toEqual([]);
  });

  test.each(['nothing', 'a directory', 'a link'])(
    'is counted once where counts begin with those of the snapshot before, and %s comes instead',
    async (instead) => {
      await delay(40);
      const { known } = await engine.backup(undefined, { learn: true });
      const dirty = [engine.source, at('app')].map(treePath);
      const changes = { directories: new Set(dirty), hiddenRules: false };
      const act = (): void => {
        upgrade(at('app'));
        if (instead !== 'a directory') rmSync(at('app'), { recursive: true });
        if (instead === 'a link') symlinkSync('beside', at('app'));
      };
      const summary = await backupWith(act, { overrides: { changes, known, learn: true } });
      const whole = await engine.backup(undefined, { parent: 'none' });
      const { directories, links, files } = whole.snapshot.record.counts;
      expect(summary.snapshot.record.counts).toMatchObject({ directories, links, files });
    },
  );

  test('is taken as the source that it is, and on the way to one', async () => {
    const source = await backupWith(() => upgrade(engine.source), { before: engine.source });
    expect(problemsOf(source)).toEqual([]);
    expect(await engine.differences(source.snapshot)).toEqual([]);
    const way = await backupWith(() => upgrade(engine.source), {
      before: engine.source,
      sources: [at('new'), at('first')],
    });
    expect(problemsOf(way)).toEqual([]);
    expect(way.snapshot.record.counts.files).toBe(3);
    expect(await engine.differences(way.snapshot, at('new'))).toEqual([]);
  });

  test('below one that has itself been replaced is listed, and not stored as an empty one', async () => {
    const summary = await backupWith(() => upgrade(at('app')), { before: at('app/part') });
    expect(problemsOf(summary)).toContainEqual(['app/part', 'CHANGED']);
    expect(await entryAt(summary, 'app/part')).toBeUndefined();
  });
});

describe('what was seen while the repository was opened', () => {
  async function backupAfter(act: () => void): Promise<ArchiveSummary> {
    await engine.backup();
    const scout = Scout.start([treePath(engine.source)]);
    await delay(100);
    act();
    return await engine.backup(undefined, { scout });
  }

  test('is not taken for a directory that was replaced since', async () => {
    const summary = await backupAfter(() => upgrade(at('app')));
    expect(problemsOf(summary)).toEqual([]);
    expect(await engine.differences(summary.snapshot)).toEqual([]);
  });

  test('is not taken for a directory that got more since', async () => {
    await delay(10);
    const summary = await backupAfter(() => writeFileSync(at('app/part/more'), 'more'));
    expect(problemsOf(summary)).toEqual([]);
    expect(await entryAt(summary, 'app/part/more')).toBeDefined();
  });
});

describe.skipIf(native === null)('an entry that is another one right behind the look at it', () => {
  /** Does one after the other, each behind a look at an entry of that name. Gives how often there was one. */
  function behindLooksAt(wanted: string, acts: Iterable<() => void, undefined>): () => number {
    const calls = native;
    if (calls === null) return () => 0;
    const real = calls.findEntry;
    const left = acts[Symbol.iterator]();
    let looks = 0;
    vi.spyOn(calls, 'findEntry').mockImplementation((directory, name) => {
      const stat = real(directory, name);
      if (name !== wanted) return stat;
      looks += 1;
      const { value } = left.next();
      value?.();
      return stat;
    });
    return () => looks;
  }

  function behindLookAt(wanted: string, act: () => void): void {
    behindLooksAt(wanted, [act]);
  }

  /** Each thing has the place of the one before, which goes out of the source. */
  function* byTurns(
    path: string,
    makers: readonly ((at: string) => void)[],
    turns: number,
  ): Generator<() => void, undefined> {
    for (let turn = 0; turn < turns; turn += 1)
      yield () => {
        renameSync(path, join(engine.directory, `turn-${turn}`));
        makers[turn % makers.length]?.(path);
      };
  }

  const asFile = (path: string): void => writeFileSync(path, 'a file');
  const asLink = (path: string): void => symlinkSync('beside', path);
  const asDirectory = (path: string): void => {
    mkdirSync(path);
    writeFileSync(join(path, 'inside'), 'inside');
  };

  test.each(['link', 'directory', 'file'])('a link becomes a %s', async (kind) => {
    symlinkSync('beside', at('current'));
    behindLookAt('current', () => {
      symlinkSync('app', at('next'));
      if (kind === 'link') renameSync(at('next'), at('current'));
      else {
        rmSync(at('current'));
        rmSync(at('next'));
        if (kind === 'file') writeFileSync(at('current'), 'a file');
        else renameSync(at('app/part'), at('current'));
      }
    });
    const summary = await engine.backup();
    expect(problemsOf(summary)).toEqual([]);
    const { type } = (await entryAt(summary, 'current')) ?? {};
    expect(type).toBe(kind === 'link' ? 'symlink' : kind);
    if (kind === 'link') expect(await entryAt(summary, 'current')).toMatchObject({ target: 'app' });
    if (kind === 'directory') expect(await entryAt(summary, 'current/second')).toBeDefined();
  });

  test('a disk is taken away: what lay under it is stored, and the disk listed as gone', async () => {
    const calls = native;
    if (calls === null) return;
    const real = calls.findEntry;
    let isMounted = true;
    vi.spyOn(calls, 'findEntry').mockImplementation((directory, name) => {
      const stat = real(directory, name);
      if (name !== 'app' || stat === undefined || !isMounted) return stat;
      isMounted = false;
      return { ...stat, dev: stat.dev + 1n, ino: 2n };
    });
    const summary = await engine.backup();
    expect(problemsOf(summary)).toEqual([['app', 'CHANGED']]);
    expect(await entryAt(summary, 'app/first')).toBeDefined();
  });

  test('a file that gives way to another while names are read is among them', async () => {
    const calls = native;
    if (calls === null) return;
    const real = calls.listDirectory;
    let isDone = false;
    vi.spyOn(calls, 'listDirectory').mockImplementation((fd, cutShort) => {
      const names = real(fd, cutShort);
      if (isDone || !names.some((name) => name === 'first')) return names;
      isDone = true;
      writeFileSync(at('app/.first.tmp'), 'another');
      renameSync(at('app/.first.tmp'), at('app/first'));
      return names.filter((name) => name !== 'first');
    });
    const summary = await engine.backup();
    expect(isDone).toBe(true);
    expect(problemsOf(summary)).toEqual([]);
    expect(await entryAt(summary, 'app/first')).toMatchObject({ size: 7 });
  });

  describe('whose counts begin with those of the snapshot before, which has a directory by that name', () => {
    test.each([
      ['a file, and a directory again', [asDirectory]],
      ['a file, a directory and a file again', [asDirectory, asFile]],
      ['a directory, a file and a directory again', [asFile, asDirectory], asDirectory],
      ['a link, a file and a directory again', [asFile, asDirectory], asLink],
    ] as const)('becomes %s: it is counted once', async (_, makers, first = asFile) => {
      for (let i = 0; i < 30; i += 1) mkdirSync(at(`app/d${i}`));
      await delay(40);
      const { known } = await engine.backup(undefined, { learn: true });
      await delay(40);
      renameSync(at('app'), join(engine.directory, 'aside'));
      first(at('app'));
      const looks = behindLooksAt('app', byTurns(at('app'), makers, makers.length));
      const changes = { directories: new Set([treePath(engine.source)]), hiddenRules: false };
      const summary = await engine.backup(undefined, { changes, known, learn: true });
      expect(looks()).toBe(makers.length + 1);
      vi.restoreAllMocks();
      expect(problemsOf(summary)).toEqual([]);
      expect(await engine.differences(summary.snapshot)).toEqual([]);
      const whole = await engine.backup(undefined, { parent: 'none' });
      const { directories, links, others, files } = whole.snapshot.record.counts;
      expect(summary.snapshot.record.counts).toMatchObject({ directories, links, others, files });
    });

    test('is told to be empty where it is a source, and a file in between', async () => {
      await delay(40);
      await engine.backup([at('app'), at('beside')]);
      renameSync(at('app'), join(engine.directory, 'aside'));
      asFile(at('app'));
      behindLookAt('app', () => {
        rmSync(at('app'));
        mkdirSync(at('app'));
      });
      const { emptied } = await engine.backup([at('app'), at('beside')]);
      expect(emptied).toEqual([{ path: bytesOfText(at('app')), filesBefore: 2 }]);
    });
  });

  test.each([
    ['a directory and a file', [asDirectory, asFile]],
    ['a file and a directory', [asFile, asDirectory]],
    ['a file, another one and a directory', [asFile, asFile, asDirectory]],
    ['a link, a file and a directory', [asLink, asFile, asDirectory]],
    ['another file', [asFile]],
    ['another link', [asLink]],
    ['another directory', [asDirectory]],
  ] as const)('is %s by turns: it is listed after a few looks, and left out', async (_, makers) => {
    await delay(40);
    const { known } = await engine.backup(undefined, { learn: true });
    const looks = behindLooksAt('app', byTurns(at('app'), makers, 500));
    const dirty = [engine.source, at('app')].map(treePath);
    const changes = { directories: new Set(dirty), hiddenRules: false };
    const summary = await engine.backup(undefined, { changes, known, learn: true });
    vi.restoreAllMocks();
    expect(looks()).toBeLessThanOrEqual(MOST_LOOKS + 1);
    expect(problemsOf(summary)).toEqual([['app', 'CHANGED']]);
    expect(await entryAt(summary, 'app')).toBeUndefined();
    expect(await entryAt(summary, 'beside')).toBeDefined();
    rmSync(at('app'), { recursive: true });
    const without = await engine.backup(undefined, { parent: 'none' });
    const { directories, links, files } = without.snapshot.record.counts;
    expect(summary.snapshot.record.counts).toMatchObject({ directories, links, files });
  });
});
