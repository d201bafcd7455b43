import {
  chmodSync,
  closeSync,
  existsSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bytesOfText, textOfBytes } from '../../src/base/byte-path.ts';
import { treePath } from '../../src/base/tree-path.ts';
import type { RestoreRequest, RestoreSummary } from '../../src/restorer/request/request.ts';
import { SILENT_RESTORE } from '../../src/restorer/request/request.ts';
import { restore } from '../../src/restorer/restore.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { never, openEngine, type Engine } from '../support/engine.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { wholeRestore } from '../support/whole-restore.ts';
import { namesBelow } from '../support/names-below.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await openEngine();
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

const random = seededRandom(5);

function write(path: string, content: string | Buffer): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, content);
}

async function backedUp(files: Readonly<Record<string, string | Buffer>>): Promise<Snapshot> {
  for (const [name, content] of Object.entries(files)) write(join(engine.source, name), content);
  return (await engine.backup()).snapshot;
}

const differences = (restored: string): string[] =>
  compareTrees(engine.source, restored).map(shownDifference);

/** Everything below a directory that could betray a write: names, types, sizes, times to the nanosecond. */
function fingerprint(directory: string): string[] {
  return namesBelow(directory)
    .sort()
    .map((name) => {
      const { mode, size, mtimeNs, ino } = lstatSync(join(directory, name), { bigint: true });
      return `${name} ${mode} ${size} ${mtimeNs} ${ino}`;
    });
}

describe('what is chosen', () => {
  const files = {
    'docs/a.txt': 'a',
    'docs/deep/b.txt': 'b',
    'docs/deep/c.log': 'c',
    'other/d.txt': 'd',
    'top.txt': 'top',
  };

  async function restored(changes: Partial<RestoreRequest>): Promise<string[]> {
    const snapshot = await backedUp(files);
    const { source, summary } = await engine.restoreTo('out', snapshot, changes);
    expect(summary.status).toBe('complete');
    const root = changes.subfolder === undefined ? source : join(engine.directory, 'out');
    if (!existsSync(root)) return [];
    return namesBelow(root)
      .filter((name) => statSync(join(root, name)).isFile())
      .sort();
  }
  const inSource = (name: string) => treePath(join(engine.source, name));
  const pattern = (text: string) => ({ pattern: bytesOfText(text), from: 'test' });

  test('a path brings that file or directory and nothing beside it', async () => {
    expect(await restored({ paths: [inSource('docs/deep'), inSource('top.txt')] })).toEqual([
      'docs/deep/b.txt',
      'docs/deep/c.log',
      'top.txt',
    ]);
  });

  test('a path that the snapshot does not have is refused before anything is written', async () => {
    await expect(restored({ paths: [inSource('docs'), inSource('nowhere')] })).rejects.toMatchObject({
      code: 'PATH_NOT_IN_SNAPSHOT',
    });
    expect(existsSync(join(engine.directory, 'out'))).toBe(false);
  });

  test('an include pattern brings what matches and everything below a matching directory', async () => {
    expect(await restored({ include: [pattern('deep/'), pattern('top.*')] })).toEqual([
      'docs/deep/b.txt',
      'docs/deep/c.log',
      'top.txt',
    ]);
  });

  test('an exclude pattern wins over include', async () => {
    expect(await restored({ include: [pattern('docs')], exclude: [pattern('*.log')] })).toEqual([
      'docs/a.txt',
      'docs/deep/b.txt',
    ]);
  });

  test.each([false, true])(
    'patterns of which none matches anything are an error, dry run %s',
    async (dryRun) => {
      await expect(restored({ include: [pattern('*.never'), pattern('a/b')], dryRun })).rejects.toMatchObject(
        {
          code: 'NOTHING_MATCHES',
          message: "No file to restore matches '*.never', 'a/b'",
        },
      );
      await expect(
        restored({ include: [pattern('b.txt')], paths: [inSource('other')], dryRun }),
      ).rejects.toMatchObject({ code: 'NOTHING_MATCHES' });
      if (!dryRun) expect(existsSync(join(engine.directory, 'out'))).toBe(false);
    },
  );

  test('that everything is excluded is no error', async () => {
    expect(await restored({ exclude: [pattern('*')] })).toEqual([]);
    expect(readdirSync(join(engine.directory, 'out'))).toEqual([]);
  });

  test('a subfolder is put directly below the target', async () => {
    expect(await restored({ subfolder: inSource('docs') })).toEqual(['a.txt', 'deep/b.txt', 'deep/c.log']);
  });

  test('directories that only lead to what is chosen keep their metadata when they stood before', async () => {
    const snapshot = await backedUp(files);
    const docs = join(engine.directory, 'out', resolve(engine.source), 'docs');
    mkdirSync(docs, { recursive: true });
    chmodSync(docs, 0o711);
    await engine.restoreTo('out', snapshot, { paths: [inSource('docs/a.txt')], overwrite: 'always' });
    expect(statSync(docs).mode & 0o777).toBe(0o711);
    expect(readFileSync(join(docs, 'a.txt'), 'utf8')).toBe('a');
  });
});

describe('entries that stand in the target', () => {
  const old = new Date('2001-01-01T00:00:00Z');
  const late = new Date('2035-01-01T00:00:00Z');

  /** A target that has `name` with other content. */
  async function overExisting(overwrite: RestoreRequest['overwrite'], at: Date) {
    const snapshot = await backedUp({ 'kept.txt': 'from the snapshot', 'new.txt': 'new' });
    const path = join(engine.directory, 'out', resolve(engine.source), 'kept.txt');
    write(path, 'from the target!!');
    utimesSync(path, at, at);
    const { summary } = await engine.restoreTo('out', snapshot, { overwrite });
    return { summary, content: readFileSync(path, 'utf8') };
  }

  test.each([
    ['never', old, 'from the target!!', { filesSkipped: 1, filesRestored: 1 }],
    ['never', late, 'from the target!!', { filesSkipped: 1, filesRestored: 1 }],
    ['if_newer', old, 'from the snapshot', { filesSkipped: 0, filesRestored: 2 }],
    ['if_newer', late, 'from the target!!', { filesSkipped: 1, filesRestored: 1 }],
    ['if_changed', old, 'from the snapshot', { filesSkipped: 0, filesRestored: 2 }],
    ['always', late, 'from the snapshot', { filesSkipped: 0, filesRestored: 2 }],
  ] as const)('%s with a file of %s leaves %j', async (overwrite, at, content, counts) => {
    const result = await overExisting(overwrite, at);
    expect(result.content).toBe(content);
    expect(result.summary).toMatchObject({ ...counts, filesFailed: 0, status: 'complete' });
  });

  test('a file of equal size and time but other content is put right by if_changed, and a dry run says so', async () => {
    const snapshot = await backedUp({ 'a.txt': 'the content', 'b.txt': 'the content' });
    const { source } = await engine.restoreTo('out', snapshot);
    const path = join(source, 'a.txt');
    const { mtime, atime } = statSync(path);
    writeFileSync(path, 'THE CONTENT');
    utimesSync(path, atime, mtime);
    // utimes cuts nanoseconds off; the snapshot has to have the same
    utimesSync(join(engine.source, 'a.txt'), atime, mtime);
    const second = (await engine.backup()).snapshot;
    const planned = new Map<string, string>();
    const counts = { filesRestored: 1, filesUnchanged: 1, filesFailed: 0 };
    const dry = await restore(
      { ...(await requestOf(second)), overwrite: 'if_changed', dryRun: true },
      { ...SILENT_RESTORE, planned: (at, action) => planned.set(basename(textOfBytes(at)), action) },
      never,
    );
    expect(dry).toMatchObject(counts);
    expect([planned.get('a.txt'), planned.get('b.txt')]).toEqual(['update', 'leave']);
    expect(readFileSync(path, 'utf8')).toBe('THE CONTENT');
    const { summary } = await engine.restoreTo('out', second, { overwrite: 'if_changed' });
    expect(summary).toMatchObject(counts);
    expect(readFileSync(path, 'utf8')).toBe('the content');
    expect(statSync(path).mtime).toEqual(mtime);
  });

  test('a file that was not touched since its backup is not read by if_changed', async () => {
    const snapshot = await backedUp({ 'a.txt': 'the content' });
    const path = join(engine.source, 'a.txt');
    const inPlace = { ...(await requestOf(snapshot)), target: { kind: 'in-place' } as const };
    const { phases, summary } = await phasesOf({ ...inPlace, overwrite: 'if_changed' });
    expect(summary).toMatchObject({ filesUnchanged: 1, filesRestored: 0 });
    expect(phases).not.toContain('comparing');
    const { mtime, atime } = statSync(path);
    utimesSync(path, atime, mtime);
    const touched = (await engine.backup()).snapshot;
    writeFileSync(path, 'THE CONTENT');
    utimesSync(path, atime, mtime);
    const again = await phasesOf({ ...inPlace, snapshot: touched, overwrite: 'if_changed' });
    expect(again.summary).toMatchObject({ filesUnchanged: 0, filesRestored: 1 });
    expect(again.phases).toContain('comparing');
    expect(readFileSync(path, 'utf8')).toBe('the content');
  });

  async function phasesOf(
    request: RestoreRequest,
  ): Promise<{ readonly phases: readonly string[]; readonly summary: RestoreSummary }> {
    const phases: string[] = [];
    const observer = { ...SILENT_RESTORE, phase: (phase: string) => void phases.push(phase) };
    const summary = await restore(request, observer, never);
    return { phases, summary };
  }

  test('only the parts that differ are fetched and written, in place', async () => {
    const content = random.bytes(6_000_000);
    const snapshot = await backedUp({ 'large.bin': content });
    const { source } = await engine.restoreTo('out', snapshot);
    const path = join(source, 'large.bin');
    const before = statSync(path);
    const fd = openSync(path, 'r+');
    writeSync(fd, 'damage', 3_000_000);
    closeSync(fd);
    engine.calls.reset();
    const { summary } = await engine.restoreTo('out', snapshot, { overwrite: 'if_changed' });
    expect(readFileSync(path).equals(content)).toBe(true);
    expect(statSync(path).ino).toBe(before.ino);
    expect(summary.filesRestored).toBe(1);
    expect(summary.bytesRestored).toBeGreaterThan(0);
    expect(summary.bytesRestored).toBeLessThan(content.length / 2);
    expect(engine.calls.bytes('get', 'packs/')).toBeLessThan(content.length / 2 + 100_000);
    expect(differences(source)).toEqual([]);
  });

  test('a file that is too long or too short ends as it should', async () => {
    const snapshot = await backedUp({
      'long.bin': random.bytes(400_000),
      'short.bin': random.bytes(900_000),
    });
    const { source } = await engine.restoreTo('out', snapshot);
    const fd = openSync(join(source, 'long.bin'), 'r+');
    writeSync(fd, Buffer.alloc(5_000, 1), 0, 5_000, 400_000);
    closeSync(fd);
    const other = openSync(join(source, 'short.bin'), 'r+');
    ftruncateSync(other, 300_000);
    closeSync(other);
    await engine.restoreTo('out', snapshot, { overwrite: 'if_changed' });
    expect(differences(source)).toEqual([]);
  });

  test('content that is right already is left alone, and only the metadata is set', async () => {
    const snapshot = await backedUp({ 'a.bin': random.bytes(500_000), empty: '' });
    const { source } = await engine.restoreTo('out', snapshot);
    for (const name of ['a.bin', 'empty']) {
      utimesSync(join(source, name), old, old);
      chmodSync(join(source, name), 0o600);
    }
    const { summary } = await engine.restoreTo('out', snapshot, { overwrite: 'if_changed' });
    expect(summary).toMatchObject({ filesUnchanged: 0, filesRestored: 2, bytesRestored: 0 });
    expect(differences(source)).toEqual([]);
    const again = await engine.restoreTo('out', snapshot, { overwrite: 'always' });
    expect(again.summary).toMatchObject({ filesUnchanged: 2, filesRestored: 0, bytesRestored: 0 });
  });

  test('a file with a second name elsewhere is replaced, so that the other name keeps its content', async () => {
    const snapshot = await backedUp({ 'a.txt': 'from the snapshot' });
    const path = join(engine.directory, 'out', resolve(engine.source), 'a.txt');
    const elsewhere = join(engine.directory, 'elsewhere.txt');
    writeFileSync(elsewhere, 'precious');
    mkdirSync(join(path, '..'), { recursive: true });
    linkSync(elsewhere, path);
    await engine.restoreTo('out', snapshot, { overwrite: 'always' });
    expect(readFileSync(path, 'utf8')).toBe('from the snapshot');
    expect(readFileSync(elsewhere, 'utf8')).toBe('precious');
  });

  test('a link in the place of a file or directory is replaced and never followed', async () => {
    const snapshot = await backedUp({ 'file.txt': 'file', 'dir/inside.txt': 'inside', 'link-to-be': 'x' });
    const outside = join(engine.directory, 'outside');
    write(join(outside, 'victim.txt'), 'victim');
    const root = join(engine.directory, 'out', resolve(engine.source));
    mkdirSync(root, { recursive: true });
    symlinkSync(join(outside, 'victim.txt'), join(root, 'file.txt'));
    symlinkSync(outside, join(root, 'dir'));
    const before = fingerprint(outside);
    const skipped = await engine.restoreTo('out', snapshot, { overwrite: 'never' });
    expect(skipped.summary).toMatchObject({ filesSkipped: 1, filesRestored: 1, filesFailed: 1 });
    expect(readlinkSync(join(root, 'dir'))).toBe(outside);
    const { summary } = await engine.restoreTo('out', snapshot, { overwrite: 'always' });
    expect(summary.status).toBe('complete');
    expect(fingerprint(outside)).toEqual(before);
    expect(differences(root)).toEqual([]);
  });

  test.each(['never', 'if_newer'] as const)(
    'with %s a file or link in the place of a directory is told of, with what cannot come back',
    async (overwrite) => {
      const snapshot = await backedUp({ 'dir/a': 'a', 'dir/deep/b': 'b', 'gone/c': 'c', other: 'o' });
      const root = join(engine.directory, 'out', resolve(engine.source));
      write(join(root, 'dir'), 'a file now');
      write(join(root, 'other'), 'stays');
      symlinkSync('nowhere', join(root, 'gone'));
      for (const name of ['dir', 'other']) utimesSync(join(root, name), late, late);
      for (const dryRun of [true, false]) {
        const { summary } = await engine.restoreTo('out', snapshot, { overwrite, dryRun });
        expect(summary.errors.map(({ path, code }) => [textOfBytes(path), code])).toEqual([
          [join(engine.source, 'dir'), 'IN_THE_WAY'],
          [join(engine.source, 'gone'), 'IN_THE_WAY'],
        ]);
        expect(summary).toMatchObject({
          filesSkipped: 1,
          filesFailed: 3,
          filesRestored: 0,
          status: 'partial',
        });
      }
      expect(readFileSync(join(root, 'dir'), 'utf8')).toBe('a file now');
    },
  );

  test('a directory in the place of a file is no file that was left alone', async () => {
    const snapshot = await backedUp({ name: 'file', other: 'o' });
    const root = join(engine.directory, 'out', resolve(engine.source));
    write(join(root, 'name', 'inside'), 'inside');
    const { summary } = await engine.restoreTo('out', snapshot);
    expect(summary.errors).toMatchObject([{ code: 'IN_THE_WAY' }]);
    expect(summary).toMatchObject({ filesSkipped: 0, filesFailed: 1, filesRestored: 1, status: 'partial' });
  });

  test('a directory that is not empty stays in the way unless extra entries are deleted', async () => {
    const snapshot = await backedUp({ name: 'file', other: 'o' });
    const root = join(engine.directory, 'out', resolve(engine.source));
    write(join(root, 'name', 'inside.txt'), 'inside');
    mkdirSync(join(root, 'other'));
    const refused = await engine.restoreTo('out', snapshot, { overwrite: 'always' });
    expect(refused.summary.errors).toMatchObject([{ code: 'IN_THE_WAY' }]);
    expect(refused.summary).toMatchObject({ filesFailed: 1, filesRestored: 1, status: 'partial' });
    expect(readFileSync(join(root, 'name', 'inside.txt'), 'utf8')).toBe('inside');
    const { summary } = await engine.restoreTo('out', snapshot, { overwrite: 'always', deleteExtra: true });
    expect(summary.status).toBe('complete');
    expect(differences(root)).toEqual([]);
  });

  test('another name of a file that is left alone becomes a file of its own, which is told', async () => {
    mkdirSync(engine.source, { recursive: true });
    for (const name of ['a', 'x']) writeFileSync(join(engine.source, name), name);
    for (const name of ['b', 'c']) linkSync(join(engine.source, 'a'), join(engine.source, name));
    linkSync(join(engine.source, 'x'), join(engine.source, 'y'));
    const { snapshot } = await engine.backup();
    const { source } = await engine.restoreTo('out', snapshot);
    for (const name of ['b', 'c', 'x', 'y']) rmSync(join(source, name));
    writeFileSync(join(source, 'a'), 'changed since');
    const { summary } = await engine.restoreTo('out', snapshot, { overwrite: 'never' });
    const [b, c] = ['b', 'c'].map((name) => statSync(join(source, name)));
    expect(b?.ino).toBe(c?.ino);
    expect(b?.ino).not.toBe(statSync(join(source, 'a')).ino);
    expect(summary).toMatchObject({ status: 'complete', filesSkipped: 1, filesRestored: 4 });
    expect(summary.omissions).toEqual([
      {
        kind: 'hard-links',
        count: 1,
        reason: 'a file with another of its names existed, and was not changed',
        paths: [join(engine.source, 'b')],
      },
    ]);
  });

  test('links of the right target stay, others are replaced', async () => {
    mkdirSync(engine.source, { recursive: true });
    symlinkSync('right', join(engine.source, 'a'));
    symlinkSync('right', join(engine.source, 'b'));
    const { snapshot } = await engine.backup();
    const root = join(engine.directory, 'out', resolve(engine.source));
    mkdirSync(root, { recursive: true });
    symlinkSync('right', join(root, 'a'));
    symlinkSync('wrong', join(root, 'b'));
    const kept = lstatSync(join(root, 'a')).ino;
    const { summary } = await engine.restoreTo('out', snapshot, { overwrite: 'if_changed' });
    expect(summary.links).toBe(2);
    expect(lstatSync(join(root, 'a')).ino).toBe(kept);
    expect(differences(root)).toEqual([]);
  });

  test('hard links are found again by a second run and completed', async () => {
    write(join(engine.source, 'a'), random.bytes(10_000));
    linkSync(join(engine.source, 'a'), join(engine.source, 'b'));
    linkSync(join(engine.source, 'a'), join(engine.source, 'c'));
    const { snapshot } = await engine.backup();
    const { source } = await engine.restoreTo('out', snapshot);
    rmSync(join(source, 'b'));
    const { summary } = await engine.restoreTo('out', snapshot, { overwrite: 'if_changed' });
    expect(summary).toMatchObject({ filesUnchanged: 2, filesRestored: 1, filesFailed: 0 });
    expect(differences(source)).toEqual([]);
  });
});

describe('deleting extra entries', () => {
  test('removes what the snapshot lacks from restored directories, and nothing else', async () => {
    const snapshot = await backedUp({ 'docs/a.txt': 'a', 'docs/sub/b.txt': 'b', 'other/c.txt': 'c' });
    const { source } = await engine.restoreTo('out', snapshot);
    const outside = join(engine.directory, 'outside');
    write(join(outside, 'keep.txt'), 'keep');
    write(join(source, 'docs', 'extra.txt'), 'extra');
    write(join(source, 'docs', 'sub', 'deep', 'extra.txt'), 'extra');
    symlinkSync(outside, join(source, 'docs', 'link'));
    write(join(source, 'other', 'extra.txt'), 'stays');
    const before = fingerprint(outside);
    const { summary } = await engine.restoreTo('out', snapshot, {
      paths: [treePath(join(engine.source, 'docs'))],
      overwrite: 'if_changed',
      deleteExtra: true,
    });
    const root = resolve(engine.source);
    expect(summary.deleted.map(textOfBytes).sort()).toEqual([
      join(root, 'docs/extra.txt'),
      join(root, 'docs/link'),
      join(root, 'docs/sub/deep'),
    ]);
    expect(existsSync(join(source, 'other/extra.txt'))).toBe(true);
    expect(fingerprint(outside)).toEqual(before);
    rmSync(join(source, 'other/extra.txt'));
    expect(readdirSync(join(source, 'docs')).sort()).toEqual(['a.txt', 'sub']);
  });

  test('leaves what the backup could not read', async () => {
    const snapshot = await backedUp({ 'docs/a.txt': 'a' });
    const { source } = await engine.restoreTo('out', snapshot);
    write(join(source, 'docs/unreadable.txt'), 'still here');
    write(join(source, 'docs/extra.txt'), 'extra');
    const path = treePath(join(engine.source, 'docs/unreadable.txt'));
    const record = { ...snapshot.record, errors: [{ path, code: 'EIO', message: 'it cannot be read' }] };
    const { summary } = await engine.restoreTo(
      'out',
      { ...snapshot, record },
      { overwrite: 'always', deleteExtra: true },
    );
    expect(readdirSync(join(source, 'docs')).sort()).toEqual(['a.txt', 'unreadable.txt']);
    expect(summary.omissions).toMatchObject([{ kind: 'deletion', count: 1 }]);
  });
});

describe('a dry run', () => {
  test('reports what would be done and writes nothing', async () => {
    const snapshot = await backedUp({ 'a.txt': 'aaa', 'b.txt': 'bbb', 'dir/c.txt': 'ccc' });
    const { source } = await engine.restoreTo('out', snapshot);
    writeFileSync(join(source, 'a.txt'), 'changed');
    rmSync(join(source, 'dir'), { recursive: true });
    writeFileSync(join(source, 'extra'), 'x');
    const before = fingerprint(join(engine.directory, 'out'));
    const planned = new Map<string, string>();
    const summary = await restore(
      { ...(await requestOf(snapshot)), overwrite: 'if_changed', deleteExtra: true, dryRun: true },
      {
        ...SILENT_RESTORE,
        planned: (path, action) => planned.set(textOfBytes(path).replace(resolve(engine.source), ''), action),
      },
      never,
    );
    expect(fingerprint(join(engine.directory, 'out'))).toEqual(before);
    expect(Object.fromEntries(planned)).toMatchObject({
      '/a.txt': 'update',
      '/b.txt': 'leave',
      '/dir': 'create',
      '/dir/c.txt': 'create',
      '/extra': 'delete',
    });
    expect(summary).toMatchObject({ filesRestored: 2, filesUnchanged: 1, bytesTotal: 9 });
  });

  test('does not make the target', async () => {
    const snapshot = await backedUp({ 'a.txt': 'aaa' });
    const { summary } = await engine.restoreTo('absent', snapshot, { dryRun: true });
    expect(summary.filesRestored).toBe(1);
    expect(existsSync(join(engine.directory, 'absent'))).toBe(false);
  });
});

async function requestOf(snapshot: Snapshot): Promise<RestoreRequest> {
  return wholeRestore(engine.repository, snapshot, join(engine.directory, 'out'), {
    restoreOwnership: false,
  });
}

describe('in place', () => {
  test('puts what is missing back where it was', async () => {
    const snapshot = await backedUp({ 'a.txt': 'a', 'dir/b.txt': 'b' });
    const above = lstatSync(join(engine.source, '..'), { bigint: true });
    rmSync(join(engine.source, 'dir'), { recursive: true });
    const summary = await restore(
      { ...(await requestOf(snapshot)), target: { kind: 'in-place' } },
      SILENT_RESTORE,
      never,
    );
    expect(summary).toMatchObject({ filesRestored: 1, filesSkipped: 1, status: 'complete' });
    expect(readFileSync(join(engine.source, 'dir/b.txt'), 'utf8')).toBe('b');
    expect(lstatSync(join(engine.source, '..'), { bigint: true }).mode).toBe(above.mode);
  });

  test('one directory comes back to where it was, and nothing above it is touched', async () => {
    const snapshot = await backedUp({ 'docs/a.txt': 'a', 'docs/deep/b.txt': 'b', 'other.txt': 'o' });
    rmSync(join(engine.source, 'docs/deep'), { recursive: true });
    write(join(engine.source, 'docs/extra'), 'x');
    write(join(engine.source, 'extra'), 'x');
    const planned: string[] = [];
    // a dry run: what is wrong here would be wrong in the root directory
    const summary = await restore(
      {
        ...(await requestOf(snapshot)),
        target: { kind: 'in-place' },
        subfolder: treePath(join(engine.source, 'docs')),
        deleteExtra: true,
        dryRun: true,
      },
      { ...SILENT_RESTORE, planned: (path, action) => planned.push(`${action} ${textOfBytes(path)}`) },
      never,
    );
    const docs = join(engine.source, 'docs');
    expect(planned.filter((one) => one.includes(engine.source) && !one.endsWith('/source')).sort()).toEqual([
      `create ${docs}/deep`,
      `create ${docs}/deep/b.txt`,
      `delete ${docs}/extra`,
      `leave ${docs}`,
      `skip ${docs}/a.txt`,
    ]);
    expect(summary).toMatchObject({ filesRestored: 1, filesSkipped: 1, status: 'complete' });
    expect(summary.deleted.map(textOfBytes)).toEqual([join(docs, 'extra')]);
  });

  test('refuses to go through a link that stands above the source now', async () => {
    const snapshot = await backedUp({ 'a.txt': 'a' });
    const moved = `${engine.source}-moved`;
    rmSync(engine.source, { recursive: true });
    mkdirSync(moved);
    // the source itself may be replaced, what leads to it may not
    const parent = join(engine.directory, 'parent');
    write(join(parent, 'source', 'a.txt'), 'a');
    const nested = (await engine.backup([join(parent, 'source')])).snapshot;
    rmSync(parent, { recursive: true });
    symlinkSync(moved, parent);
    const summary = await restore(
      { ...(await requestOf(nested)), target: { kind: 'in-place' }, overwrite: 'always' },
      SILENT_RESTORE,
      never,
    );
    expect(summary.errors).toMatchObject([{ code: 'IN_THE_WAY' }]);
    expect(summary.filesFailed).toBe(1);
    expect(readdirSync(moved)).toEqual([]);
    expect(snapshot.record.counts.files).toBe(1);
    mkdirSync(engine.source);
  });
});

describe('numbers', () => {
  test('progress ends at what the summary says', async () => {
    const snapshot = await backedUp({ 'a.bin': random.bytes(2_000_000), 'b.txt': 'b', 'c/d.txt': '' });
    const seen: { filesDone: number; bytesDone: number }[] = [];
    const summary: RestoreSummary = await restore(
      await requestOf(snapshot),
      { ...SILENT_RESTORE, progress: (counters) => seen.push(counters) },
      never,
    );
    expect(summary).toMatchObject({ filesRestored: 3, bytesRestored: 2_000_001, bytesTotal: 2_000_001 });
    expect(seen.at(-1)).toMatchObject({
      filesDone: 3,
      bytesDone: 2_000_001,
      filesTotal: 3,
      bytesTotal: 2_000_001,
    });
  });

  test('each segment that is needed is fetched once', async () => {
    const shared = random.bytes(50_000);
    const files: Record<string, Buffer> = { 'large.bin': random.bytes(3_000_000) };
    for (let i = 0; i < 300; i += 1)
      files[`dir${i % 7}/file${i}`] = i % 5 === 0 ? shared : random.bytes(3_000);
    const snapshot = await backedUp(files);
    engine.calls.reset();
    const { source } = await engine.restoreTo('out', snapshot, { workers: 2 });
    const ranges = engine.calls.calls
      .filter(({ method, key, range }) => method === 'get' && key.startsWith('packs/') && range !== undefined)
      .map(({ key, range }) => ({
        key,
        start: range?.offset ?? 0,
        end: (range?.offset ?? 0) + (range?.length ?? 0),
      }))
      .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.start - b.start));
    expect(ranges.length).toBeGreaterThan(3);
    for (const [i, range] of ranges.entries()) {
      const next = ranges[i + 1];
      if (next?.key === range.key) expect(next.start).toBeGreaterThanOrEqual(range.end);
    }
    expect(differences(source)).toEqual([]);
  });
});
