import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ArchiveSummary } from '../../src/archiver/archive.ts';
import { NO_EXCLUSIONS } from '../../src/exclude/excluder.ts';
import { takeHungMounts } from '../../src/archiver/source/hung-mounts.ts';
import type { EntryProblem } from '../../src/format/records.ts';
import { asByteString, bytesOfText } from '../../src/base/byte-path.ts';
import { native } from '../../src/system/native.ts';
import { storedContent } from '../support/compare-snapshot.ts';
import { entryOf, never, openEngine, type Engine } from '../support/engine.ts';
import { makeSpecial } from '../support/libc.ts';
import { moduleUrl, runScript } from '../support/run-script.ts';

let engine: Engine;
const at = (name: string): string => join(engine.source, name);

beforeEach(async () => {
  engine = await openEngine();
});
afterEach(async () => {
  await engine[Symbol.asyncDispose]();
});

interface Report {
  readonly status: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly errors: readonly EntryProblem[];
  readonly paths: readonly string[];
}

/**
 * Backs up as a user who may not read everything: a first run, one with a parent, and one that is told that nothing
 * has changed since.
 */
const asOtherUser = `
  import { openEngine } from ${JSON.stringify(moduleUrl('test/support/engine.ts'))};
  await using engine = await openEngine();
  const reports = [];
  for (const changes of [undefined, undefined, { directories: new Set(), hiddenRules: false }]) {
    const { snapshot } = await engine.backup(process.argv.slice(2), { changes });
    const { status, counts, errors } = snapshot.record;
    reports.push({ status, counts, errors, paths: [...(await engine.treeOf(snapshot)).keys()] });
  }
  process.stdout.write(JSON.stringify(reports));
`;

async function backupAsOtherUser(...sources: readonly string[]): Promise<readonly Report[]> {
  const isRoot = process.getuid?.() === 0;
  const output = await runScript(asOtherUser, { args: sources, ...(isRoot ? { uid: 65_534 } : {}) });
  const reports: readonly Report[] = JSON.parse(output);
  return reports;
}

/** Of the names in a directory that has any of these files those for which this holds can be read, and then comes a bad place. */
function failingListing(isRead: (name: string) => boolean): Disposable {
  if (native === null) throw new Error('there are no native calls here');
  const real = native.listDirectory;
  const listing = vi.spyOn(native, 'listDirectory');
  listing.mockImplementation((directory, cutShort) => {
    const names = real(directory);
    if (!names.some((name) => name.startsWith('file-'))) return names;
    const error = Object.assign(new Error('EIO: planned'), { code: 'EIO', syscall: 'readdir' });
    if (cutShort === undefined) throw error;
    cutShort(error);
    return names.filter((name) => isRead(name));
  });
  return { [Symbol.dispose]: () => listing.mockRestore() };
}

describe('what cannot be read', () => {
  test('costs exactly that entry: the other 999 are kept', async () => {
    chmodSync(engine.directory, 0o755);
    mkdirSync(at('many'));
    for (let index = 0; index < 1_000; index += 1) writeFileSync(at(`many/file-${index}`), `${index}`);
    chmodSync(at('many/file-500'), 0o000);
    for (const report of await backupAsOtherUser(engine.source)) {
      expect(report.status).toBe('partial');
      expect(report.errors).toEqual([
        {
          path: at('many/file-500'),
          code: 'EACCES',
          message: 'it cannot be read: permission denied (EACCES)',
        },
      ]);
      expect(report.counts).toMatchObject({ files: 999, failed: 1 });
      const stored = report.paths.filter((path) => path.startsWith(at('many/')));
      expect(stored).toHaveLength(999);
      expect(stored).not.toContain(at('many/file-500'));
    }
  });

  test.runIf(native !== null)(
    'one entry that cannot be looked at is missing, and those after it are kept',
    async () => {
      mkdirSync(at('some'));
      for (const name of ['a', 'b', 'c', 'd']) writeFileSync(at(`some/${name}`), name);
      const real = native?.findEntry;
      const looking = vi.spyOn(native ?? { findEntry: () => undefined }, 'findEntry');
      looking.mockImplementation((directory, name) => {
        if (name === 'b') throw Object.assign(new Error('EIO: planned'), { code: 'EIO', syscall: 'fstatat' });
        return real?.(directory, name);
      });
      const { snapshot } = await engine.backup();
      looking.mockRestore();
      expect(snapshot.record.status).toBe('partial');
      expect(snapshot.record.errors.map(({ path, code }) => [path, code])).toEqual([[at('some/b'), 'EIO']]);
      const tree = await engine.treeOf(snapshot);
      const stored = ['a', 'b', 'c', 'd'].filter((name) => tree.has(bytesOfText(at(`some/${name}`))));
      expect(stored).toEqual(['a', 'c', 'd']);
    },
  );

  test.runIf(native !== null)(
    'the end of a directory costs what lies there, less what the parent knows by name',
    async () => {
      mkdirSync(at('bad'));
      const names = Array.from({ length: 1_000 }, (_, n) => `file-${String(n).padStart(4, '0')}`);
      for (const name of names) writeFileSync(at(`bad/${name}`), name);
      const stored = async (): Promise<Partial<Report>> => {
        const { snapshot } = await engine.backup();
        const { status, errors } = snapshot.record;
        const paths = [...(await engine.treeOf(snapshot)).keys()];
        return { status, errors, paths: paths.filter((path) => path.startsWith(at('bad/'))) };
      };
      let end = 'file-0500';
      using _listing = failingListing((name) => name < end);
      const problem = { path: at('bad'), code: 'EIO', message: expect.stringContaining('completely') };
      const first = await stored();
      expect(first).toMatchObject({ status: 'partial', errors: [problem] });
      expect(first.paths).toEqual(names.slice(0, 500).map((name) => at(`bad/${name}`)));
      end = 'file-9999';
      expect((await stored()).paths).toHaveLength(1_000);
      unlinkSync(at('bad/file-0999'));
      writeFileSync(at('bad/file-0001'), 'changed');
      end = 'file-0300';
      const last = await stored();
      // What is gone has not vanished just now: nothing of it was listed.
      expect(last).toMatchObject({ status: 'partial', errors: [problem] });
      expect(last.paths).toEqual(names.slice(0, 999).map((name) => at(`bad/${name}`)));
    },
  );

  test('of directories: kept as empty ones, with what stands beside them', async () => {
    chmodSync(engine.directory, 0o755);
    for (const name of ['locked', 'open', 'unsearchable']) {
      mkdirSync(at(name));
      writeFileSync(at(`${name}/inside`), name);
    }
    chmodSync(at('locked'), 0o000);
    // Its names could be read, but nothing they stand for could be looked at.
    chmodSync(at('unsearchable'), 0o644);
    for (const report of await backupAsOtherUser(engine.source)) {
      expect(report.status).toBe('partial');
      expect(report.errors.map(({ path, code }) => [path, code])).toEqual([
        [at('locked'), 'EACCES'],
        [at('unsearchable'), 'EACCES'],
      ]);
      const below = report.paths.filter((path) => path.startsWith(`${engine.source}/`));
      expect(below).toEqual([at('locked'), at('open'), at('open/inside'), at('unsearchable')]);
    }
  });
});

describe('a directory that lets nothing in it be looked at', () => {
  beforeEach(() => {
    chmodSync(engine.directory, 0o755);
    for (const name of ['shut/one', 'shut/two', 'app/one', 'app/two', 'app/three'])
      mkdirSync(at(name), { recursive: true });
  });

  test('is one problem, also where sources of their own lie below it', async () => {
    chmodSync(at('shut'), 0o644);
    for (const { errors } of await backupAsOtherUser(engine.source, at('shut/one'), at('shut/two')))
      expect(errors.map(({ path, code }) => [path, code])).toEqual([[at('shut'), 'EACCES']]);
  });

  test('is told of each source that it is on the way to', async () => {
    chmodSync(at('shut'), 0o644);
    for (const { errors } of await backupAsOtherUser(at('app'), at('shut/one'), at('shut/two')))
      expect(errors.map(({ path, code }) => [path, code])).toEqual([
        [at('shut/one'), 'EACCES'],
        [at('shut/two'), 'EACCES'],
      ]);
  });

  test.skipIf(native === null)('is one problem where only changes are looked at', async () => {
    await engine.backup();
    const calls = native;
    if (calls === null) return;
    const real = calls.lstatat;
    const looking = vi.spyOn(calls, 'lstatat');
    const { ino } = lstatSync(at('app'), { bigint: true });
    looking.mockImplementation((directory, name) => {
      const stat = real(directory, name);
      if (name !== '.' || stat.ino !== ino) return stat;
      throw Object.assign(new Error('EACCES: planned'), { code: 'EACCES', syscall: 'lstatat' });
    });
    const changes = { directories: new Set([asByteString('/nowhere')]), hiddenRules: false };
    const { snapshot } = await engine.backup(undefined, { changes });
    looking.mockRestore();
    expect(snapshot.record.errors.map(({ path, code }) => [path, code])).toEqual([[at('app'), 'EACCES']]);
  });
});

describe('sources', () => {
  test('one of several is missing: it is listed, and the others are saved', async () => {
    for (const name of ['a', 'c']) {
      mkdirSync(at(name));
      writeFileSync(at(`${name}/file`), name);
    }
    const { snapshot } = await engine.backup([at('a'), at('b'), at('c')]);
    expect(snapshot.record.status).toBe('partial');
    expect(snapshot.record.errors.map(({ path, code }) => [path, code])).toEqual([[at('b'), 'ENOENT']]);
    const tree = await engine.treeOf(snapshot);
    expect([...tree.keys()].filter((path) => path.startsWith(`${engine.source}/`))).toEqual([
      at('a'),
      at('a/file'),
      at('c'),
      at('c/file'),
    ]);
    expect(await engine.differences(snapshot, at('a'))).toEqual([]);
  });

  test('one that came back is whole again', async () => {
    mkdirSync(at('a'));
    mkdirSync(at('b'));
    writeFileSync(at('b/file'), 'content');
    const sources = [at('a'), at('b')];
    await engine.backup(sources);
    rmSync(at('b'), { recursive: true });
    expect((await engine.backup(sources)).snapshot.record.status).toBe('partial');
    mkdirSync(at('b'));
    writeFileSync(at('b/file'), 'content');
    const { snapshot } = await engine.backup(sources);
    expect(snapshot.record.status).toBe('complete');
    expect(await engine.differences(snapshot, at('b'))).toEqual([]);
  });

  test('one within another adds nothing, in any order', async () => {
    mkdirSync(at('a/b/c'), { recursive: true });
    writeFileSync(at('a/b/c/file'), 'content');
    writeFileSync(at('a/beside'), 'content');
    const ids = new Set<string>();
    for (const sources of [
      [at('a'), at('a/b')],
      [at('a/b/c/file'), at('a/b'), at('a')],
      [at('a')],
      [at('a'), at('a')],
    ]) {
      const { snapshot } = await engine.backup(sources, { parent: 'none' });
      expect(await engine.differences(snapshot, at('a'))).toEqual([]);
      const entry = (await engine.treeOf(snapshot)).get(bytesOfText(at('a')));
      if (entry?.type === 'directory') ids.add(entry.id.toString('hex'));
    }
    expect(ids.size).toBe(1);
  });

  test('a single file, beside which nothing is saved', async () => {
    writeFileSync(at('file'), 'content');
    writeFileSync(at('other'), 'content');
    const { snapshot } = await engine.backup([at('file')]);
    expect(snapshot.record.counts).toMatchObject({ files: 1, bytes: 7 });
    expect(await engine.differences(snapshot, at('file'))).toEqual([]);
    expect([...(await engine.treeOf(snapshot)).keys()]).not.toContain(at('other'));
  });

  test('a link is stored as a link', async () => {
    mkdirSync(at('real'));
    writeFileSync(at('real/file'), 'content');
    symlinkSync('real', at('link'));
    const { snapshot } = await engine.backup([at('link')]);
    expect(snapshot.record.status).toBe('complete');
    expect((await engine.treeOf(snapshot)).get(bytesOfText(at('link')))).toMatchObject({
      type: 'symlink',
      target: 'real',
    });
  });

  test('one that is reached through a link or a file is not silently missing', async () => {
    mkdirSync(at('real'));
    writeFileSync(at('real/file'), 'content');
    symlinkSync('real', at('link'));
    const { snapshot } = await engine.backup([at('link/file'), at('real/file/below'), at('real')]);
    expect(snapshot.record.status).toBe('partial');
    expect(snapshot.record.errors.map(({ path, code }) => [path, code])).toEqual([
      [at('link/file'), 'ENOTDIR'],
      [at('real/file/below'), 'ENOTDIR'],
    ]);
  });
});

describe('what is no file', () => {
  test('is stored and never opened: a FIFO without a writer holds nothing up', async () => {
    for (const kind of ['fifo', 'socket'] as const) makeSpecial(bytesOfText(at(kind)), kind, 0o600);
    if (process.getuid?.() === 0) {
      // Opening it would wait for a terminal, reading it never end.
      makeSpecial(bytesOfText(at('zero')), 'character-device', 0o600, 1, 5);
      makeSpecial(bytesOfText(at('console')), 'character-device', 0o600, 5, 1);
    }
    writeFileSync(at('file'), 'content');
    for (let run = 0; run < 2; run += 1) {
      const { snapshot } = await engine.backup();
      expect(snapshot.record.status).toBe('complete');
      expect(await engine.differences(snapshot)).toEqual([]);
    }
  });

  test.runIf(process.platform === 'linux')(
    'a file that the kernel makes up, of size 0 with content: stored as long as it says, and listed',
    async () => {
      const { snapshot } = await engine.backup(['/proc/sys/kernel/ostype']);
      const entry = await entryOf(engine, snapshot, '/proc/sys/kernel/ostype', 'file');
      const content = await storedContent(engine.repository, snapshot, entry, never);
      expect(content.length).toBe(entry.size);
      expect(snapshot.record.errors.map(({ code }) => code)).toEqual(['CHANGED']);
    },
  );

  test('as the source itself', async () => {
    makeSpecial(bytesOfText(at('fifo')), 'fifo', 0o600);
    const { snapshot } = await engine.backup([at('fifo')]);
    expect((await engine.treeOf(snapshot)).get(asByteString(at('fifo')))?.type).toBe('fifo');
  });

  test('as a name of an exclude rule file', async () => {
    makeSpecial(bytesOfText(at('.ignore')), 'fifo', 0o600);
    makeSpecial(bytesOfText(at('CACHEDIR.TAG')), 'fifo', 0o600);
    writeFileSync(at('file'), 'content');
    const { snapshot } = await engine.backup(undefined, {
      exclude: { ...NO_EXCLUSIONS, ignoreFiles: [bytesOfText('.ignore')], excludeCaches: true },
    });
    expect(await engine.differences(snapshot)).toEqual([]);
  });
});

describe('what changes after the walker has looked at it', () => {
  /** Backs up `a` and `b`; `change` comes between the look at their entries and the reading of them. */
  async function changedMeanwhile(change: () => void): Promise<ArchiveSummary> {
    mkdirSync(at('c'));
    let changed = 0;
    const summary = await engine.backup(
      undefined,
      {},
      {
        directory: (path) => {
          if (path !== at('c')) return;
          change();
          changed += 1;
        },
      },
    );
    expect(changed).toBe(1);
    return summary;
  }

  function problemsOf({ snapshot }: ArchiveSummary): readonly (readonly [string, string])[] {
    return snapshot.record.errors.map(({ path, code }) => [path.slice(engine.source.length + 1), code]);
  }

  async function contentOf({ snapshot }: ArchiveSummary, name: string): Promise<string> {
    const entry = await entryOf(engine, snapshot, at(name), 'file');
    return (await storedContent(engine.repository, snapshot, entry, never)).toString();
  }

  beforeEach(() => {
    for (const name of ['a', 'b']) mkdirSync(at(name));
    writeFileSync(at('a/one'), 'first version');
    linkSync(at('a/one'), at('b/one-too'));
    linkSync(at('a/one'), at('b/one-three'));
    writeFileSync(at('b/other'), 'other');
  });

  test('one name of a file goes: it is read by another one', async () => {
    const summary = await changedMeanwhile(() => unlinkSync(at('a/one')));
    expect(problemsOf(summary)).toEqual([['a/one', 'ENOENT']]);
    expect(await contentOf(summary, 'b/one-too')).toBe('first version');
    expect(await contentOf(summary, 'b/one-three')).toBe('first version');
    expect(summary.snapshot.record.counts).toMatchObject({ files: 3, failed: 1 });
  });

  test('one name becomes another file: the other names keep their own content', async () => {
    const summary = await changedMeanwhile(() => renameSync(at('b/other'), at('a/one')));
    expect(problemsOf(summary)).toEqual([['b/other', 'ENOENT']]);
    expect(await contentOf(summary, 'a/one')).toBe('other');
    expect(await contentOf(summary, 'b/one-too')).toBe('first version');
    expect(await contentOf(summary, 'b/one-three')).toBe('first version');
  });

  test('all names go', async () => {
    const names = ['a/one', 'b/one-three', 'b/one-too'];
    const summary = await changedMeanwhile(() => {
      for (const name of names) unlinkSync(at(name));
    });
    expect(problemsOf(summary)).toEqual(names.map((name) => [name, 'ENOENT']));
    expect(summary.snapshot.record.counts).toMatchObject({ files: 1, failed: 3 });
  });

  test('a file grows, shrinks or empties: the entry is what was read', async () => {
    for (const name of ['grows', 'shrinks', 'empties', 'fills']) writeFileSync(at(`a/${name}`), 'before');
    writeFileSync(at('a/fills'), '');
    const summary = await changedMeanwhile(() => {
      writeFileSync(at('a/grows'), 'longer than before');
      writeFileSync(at('a/shrinks'), 'short');
      writeFileSync(at('a/empties'), '');
      writeFileSync(at('a/fills'), 'full');
    });
    expect(problemsOf(summary)).toEqual([]);
    expect(await engine.differences(summary.snapshot)).toEqual([]);
  });

  test('a file becomes a directory, a link or a FIFO: it is stored as that', async () => {
    for (const name of ['directory', 'fifo', 'link']) writeFileSync(at(`a/to-${name}`), 'before');
    const summary = await changedMeanwhile(() => {
      for (const name of ['directory', 'fifo', 'link']) unlinkSync(at(`a/to-${name}`));
      mkdirSync(at('a/to-directory/below'), { recursive: true });
      writeFileSync(at('a/to-directory/below/file'), 'came with it');
      makeSpecial(bytesOfText(at('a/to-fifo')), 'fifo', 0o600);
      symlinkSync('one', at('a/to-link'));
    });
    expect(problemsOf(summary)).toEqual([]);
    expect(summary.snapshot.record.counts).toMatchObject({ files: 5, links: 1, others: 1, failed: 0 });
    const differences = await engine.differences(summary.snapshot);
    // The directory itself had been met before.
    expect(differences.filter((text) => !/time of \S+\/a: /.test(text))).toEqual([]);
  });

  test('a directory vanishes, or becomes something else, before it is listed', async () => {
    for (const name of ['d', 'e', 'f']) {
      mkdirSync(at(name));
      writeFileSync(at(`${name}/inside`), 'inside');
    }
    const summary = await changedMeanwhile(() => {
      for (const name of ['d', 'e', 'f']) rmSync(at(name), { recursive: true });
      writeFileSync(at('e'), 'a file');
      symlinkSync('a', at('f'));
    });
    expect(problemsOf(summary)).toEqual([['d', 'ENOENT']]);
    expect(summary.snapshot.record.counts).toMatchObject({ files: 5, links: 1 });
    expect(await engine.differences(summary.snapshot)).toEqual([]);
    const again = await engine.backup();
    expect(again.snapshot.record.status).toBe('complete');
    expect(await engine.differences(again.snapshot)).toEqual([]);
  });
});

describe('a file system that does not answer', () => {
  const hung = (): string => at('far/hung');
  beforeEach(() => {
    mkdirSync(hung(), { recursive: true });
    for (const name of ['a', 'far/b', 'far/hung/c']) writeFileSync(at(name), name);
    takeHungMounts([bytesOfText(hung())]);
  });
  afterEach(() => takeHungMounts([]));

  test('is left alone and listed, and all else is saved', async () => {
    const { snapshot } = await engine.backup();
    expect(snapshot.record.status).toBe('partial');
    expect(snapshot.record.errors).toMatchObject([{ path: hung(), code: 'ETIMEDOUT' }]);
    const paths = [...(await engine.treeOf(snapshot)).keys()];
    expect(paths).toEqual(expect.arrayContaining([at('a'), at('far/b')]));
    expect(paths.filter((path) => path.startsWith(hung()))).toEqual([]);
    takeHungMounts([]);
    const next = await engine.backup();
    expect(next.snapshot.record.status).toBe('complete');
    expect(await engine.differences(next.snapshot)).toEqual([]);
  });

  test('is missed by nobody where the rules leave it out', async () => {
    for (const exclude of [
      { ...NO_EXCLUSIONS, patterns: [{ pattern: asByteString('hung'), from: 'the test' }] },
      { ...NO_EXCLUSIONS, oneFileSystem: true },
    ]) {
      const { snapshot } = await engine.backup(undefined, { exclude });
      expect(snapshot.record.errors).toEqual([]);
      expect(snapshot.record.status).toBe('complete');
    }
  });
});
