/**
 * A power loss during a restore, or right after it: every call that changes something is noted together with those that
 * make it durable. What was not made durable may be lost, or may be there without what was done before it.
 */
import type * as FileSystem from 'node:fs';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Repository } from '../../src/repository/repository.ts';
import {
  SILENT_RESTORE,
  type RestoreRequest,
  type RestoreSummary,
} from '../../src/restorer/request/request.ts';
import { restore } from '../../src/restorer/restore.ts';
import { UNFINISHED_DIRECTORY, UNFINISHED_FILE } from '../../src/restorer/target/target-directory.ts';
import type * as NativeCalls from '../../src/system/native.ts';
import { native } from '../../src/system/native.ts';
import {
  directory,
  file,
  handMadeSnapshot,
  memoryRepository,
  symlink,
  type HandMadeNode,
} from '../support/hand-made-snapshot.ts';
import { removeTree } from '../support/remove-tree.ts';
import { leaveUnfinished } from '../support/restore-remains.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { wholeRestore } from '../support/whole-restore.ts';
import { namesBelow } from '../support/names-below.ts';

/** `entry`: a name in the directory was made or changed. */
interface Change {
  readonly what: 'write' | 'mode' | 'entry' | 'sync';
  readonly ino: bigint;
  readonly mode?: number;
}
type Event = Change | { readonly what: 'sync-all' };

const noted = vi.hoisted(() => ({
  events: [] as Event[],
  /** What a call says in place of doing anything. */
  fails: (_event: Event): string | undefined => undefined,
}));

vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof FileSystem>();
  const note = (what: Change['what'], fd: number, mode?: number): void => {
    const event: Event = { what, ino: fs.fstatSync(fd, { bigint: true }).ino, ...(mode && { mode }) };
    const code = noted.fails(event);
    if (code !== undefined) throw Object.assign(new Error(`${code}: it fails in this test`), { code });
    noted.events.push(event);
  };
  return {
    ...fs,
    writeSync: (fd: number, ...rest: [Buffer]) => {
      note('write', fd);
      return fs.writeSync(fd, ...rest);
    },
    ftruncateSync: (fd: number, length: number) => {
      note('write', fd);
      fs.ftruncateSync(fd, length);
    },
    fchmodSync: (fd: number, mode: number) => {
      note('mode', fd, mode);
      fs.fchmodSync(fd, mode);
    },
    fsyncSync: (fd: number) => {
      note('sync', fd);
      fs.fsyncSync(fd);
    },
  };
});

vi.mock('../../src/system/native.ts', async (importOriginal) => {
  const original = await importOriginal<typeof NativeCalls>();
  const calls = original.native;
  if (calls === null) return original;
  const entry = (dirFd: number): void => {
    if (dirFd >= 0) noted.events.push({ what: 'entry', ino: calls.fstat(dirFd).ino });
  };
  const O_CREAT = 0o100;
  return {
    ...original,
    native: {
      ...calls,
      openat: (dirFd: number, name: never, flags: number, mode?: number) => {
        if ((flags & O_CREAT) !== 0) entry(dirFd);
        return calls.openat(dirFd, name, flags, mode);
      },
      mkdirat: (dirFd: number, name: never, mode: number) => {
        entry(dirFd);
        calls.mkdirat(dirFd, name, mode);
      },
      renameat: (dirFd: number, from: never, toDirFd: number, to: never) => {
        entry(toDirFd);
        calls.renameat(dirFd, from, toDirFd, to);
      },
      renameNew: (dirFd: number, from: never, to: never) => {
        entry(dirFd);
        calls.renameNew(dirFd, from, to);
      },
      symlinkat: (target: never, dirFd: number, name: never) => {
        entry(dirFd);
        calls.symlinkat(target, dirFd, name);
      },
      syncFileSystem:
        calls.syncFileSystem &&
        ((fd: number) => {
          const event = { what: 'sync-all' } as const;
          const code = noted.fails(event);
          if (code !== undefined) throw Object.assign(new Error(`${code}: it fails in this test`), { code });
          noted.events.push(event);
          calls.syncFileSystem?.(fd);
        }),
    },
  };
});

const never = new AbortController().signal;
const random = seededRandom(44);
let site: string;
let out: string;
let repository: Repository;

beforeEach(async () => {
  site = mkdtempSync(join(tmpdir(), 'holdfast-power-loss-'));
  out = join(site, 'out');
  mkdirSync(out);
  repository = await memoryRepository(never);
  noted.fails = () => undefined;
});
afterEach(async () => {
  await repository.close();
  removeTree(site);
});

async function restored(
  entries: Readonly<Record<string, HandMadeNode>>,
  changes: Partial<RestoreRequest> = {},
): Promise<RestoreSummary> {
  const snapshot = await handMadeSnapshot(repository, directory(entries), {}, never);
  noted.events.length = 0;
  return await restore(wholeRestore(repository, snapshot, out, changes), SILENT_RESTORE, never);
}

const isUnfinished = (mode: number | undefined): boolean =>
  mode === UNFINISHED_FILE || mode === UNFINISHED_DIRECTORY;

/** What was done to an inode since it was last made durable, before an event. */
function pendingBefore(at: number, ino: bigint): Change[] {
  const pending: Change[] = [];
  for (const event of noted.events.slice(0, at).toReversed()) {
    if (event.what === 'sync-all') break;
    if (event.ino !== ino) continue;
    if (event.what === 'sync') break;
    pending.push(event);
  }
  return pending;
}

/** Inodes that look finished while something of their content may be lost. */
function finishedTooEarly(): bigint[] {
  return noted.events.flatMap((event, at) => {
    if (event.what !== 'mode' || isUnfinished(event.mode)) return [];
    return pendingBefore(at, event.ino).some(({ what }) => what === 'write') ? [event.ino] : [];
  });
}

/** Inodes of which something may be lost when the restore has said that it is done. */
function notDurable(): bigint[] {
  const all = namesBelow(out).map((name) => join(out, name));
  return [out, ...all]
    .map((path) => lstatSync(path, { bigint: true }).ino)
    .filter((ino) => pendingBefore(noted.events.length, ino).length > 0);
}

function manyFiles(count: number): Record<string, HandMadeNode> {
  const entries: Record<string, HandMadeNode> = {};
  for (let i = 0; i < count; i += 1) entries[`file${i}`] = file(`content ${i}`);
  return {
    ...entries,
    large: file([random.bytes(200_000), random.bytes(200_000), random.bytes(10)]),
    empty: file(''),
    below: directory({ link: symlink('file0'), deeper: directory({ last: file('last') }) }),
  };
}

describe.runIf(native !== null)('a restore', () => {
  test.each([
    ['a few files', 3],
    ['many files', 200],
  ])('of %s gives each its mode when its content is on disk, and is done when all is', async (_, count) => {
    const summary = await restored(manyFiles(count));
    expect(summary).toMatchObject({ status: 'complete', filesRestored: count + 3, links: 1 });
    const finished = noted.events.filter(({ what }) => what === 'mode');
    expect(finished).toHaveLength(count + 5);
    expect(finishedTooEarly()).toEqual([]);
    expect(notDurable()).toEqual([]);
  });

  test('asks for the whole file system when there are many files, and not for each', async () => {
    if (native?.syncFileSystem === undefined) return;
    await restored(manyFiles(200));
    expect(noted.events.filter(({ what }) => what === 'sync').length).toBeLessThan(20);
  });

  test.each(['if_changed', 'always'] as const)(
    'with %s marks a file that is changed in place as unfinished, on disk, before it touches it',
    async (overwrite) => {
      const parts = [random.bytes(200_000), random.bytes(200_000), random.bytes(200_000)];
      const path = join(out, 'large');
      // both ends differ
      writeFileSync(
        path,
        Buffer.concat([Buffer.alloc(200_000), ...parts.slice(1, 2), Buffer.alloc(200_000)]),
      );
      chmodSync(path, 0o640);
      const { ino } = statSync(path, { bigint: true });
      const summary = await restored({ large: file(parts) }, { overwrite });
      expect(summary).toMatchObject({ status: 'complete', filesRestored: 1 });
      expect(readFileSync(path).equals(Buffer.concat(parts))).toBe(true);
      expect(statSync(path, { bigint: true }).ino).toBe(ino);

      const first = noted.events.findIndex((event) => event.what === 'write' && event.ino === ino);
      const before = noted.events.slice(0, first).filter((event) => 'ino' in event && event.ino === ino);
      expect(before).toEqual([
        { what: 'mode', ino, mode: UNFINISHED_FILE },
        { what: 'sync', ino },
      ]);
      expect(finishedTooEarly()).toEqual([]);
      expect(notDurable()).toEqual([]);
    },
  );

  test('puts a changed file of one segment in the place of the old one, which stays as it is until then', async () => {
    const path = join(out, 'small');
    writeFileSync(path, 'older content');
    const { ino } = statSync(path, { bigint: true });
    await restored({ small: file('new content') }, { overwrite: 'if_changed' });
    expect(readFileSync(path, 'utf8')).toBe('new content');
    expect(noted.events.filter((event) => 'ino' in event && event.ino === ino)).toEqual([]);
    expect(finishedTooEarly()).toEqual([]);
    expect(notDurable()).toEqual([]);
  });

  test('goes on with a file whose content is there and may not be on disk', async () => {
    const path = join(out, 'a');
    writeFileSync(path, 'content');
    leaveUnfinished(path);
    const { ino } = statSync(path, { bigint: true });
    await restored({ a: file('content') });
    const [first] = noted.events.filter((event) => 'ino' in event && event.ino === ino);
    expect(first).toEqual({ what: 'sync', ino });
    expect(statSync(path).mode & 0o7777).toBe(0o644);
  });
});

describe.runIf(native !== null)('a disk that does not take what was written', () => {
  test('costs the file concerned, which is listed and does not look finished', async () => {
    const path = join(out, 'stood');
    writeFileSync(path, 'content');
    utimesSync(path, 1, 1);
    leaveUnfinished(path);
    const { ino } = statSync(path, { bigint: true });
    noted.fails = (event) => (event.what === 'sync' && event.ino === ino ? 'EIO' : undefined);
    const summary = await restored({ stood: file('content'), other: file('other') });
    expect(summary).toMatchObject({ status: 'partial', filesRestored: 1, filesFailed: 1 });
    expect(summary.errors).toMatchObject([{ path: '/stood', code: 'EIO' }]);
    expect(statSync(path).mode & 0o7777).toBe(UNFINISHED_FILE);
    expect(readFileSync(join(out, 'other'), 'utf8')).toBe('other');
  });

  test('asked for all files at once, is asked for each', async () => {
    if (native?.syncFileSystem === undefined) return;
    noted.fails = (event) => (event.what === 'sync-all' ? 'EIO' : undefined);
    const entries = manyFiles(200);
    const summary = await restored(entries);
    // what was done last to directories is known by the file system alone, or by each of them
    expect(summary).toMatchObject({ filesRestored: 203, filesFailed: 0 });
    expect(noted.events.filter(({ what }) => what === 'sync').length).toBeGreaterThan(400);
    expect(finishedTooEarly()).toEqual([]);
  });

  test('after the last step makes the restore partial', async () => {
    if (native?.syncFileSystem === undefined) return;
    const entries: Record<string, HandMadeNode> = {};
    for (let i = 0; i < 100; i += 1) entries[`directory${i}`] = directory({});
    noted.fails = (event) => (event.what === 'sync-all' ? 'EIO' : undefined);
    const summary = await restored(entries);
    expect(summary).toMatchObject({ status: 'partial', errors: [{ path: '/', code: 'EIO' }] });
  });
});
