import { describe, expect, test } from 'vitest';
import { FileSaver, type FileToSave } from '../../../src/archiver/read/file-saver.ts';
import type { TaskExtras } from '../../../src/archiver/read/messages.ts';
import { SILENT } from '../../../src/archiver/report/observer.ts';
import { Batcher, type ReadJob } from '../../../src/archiver/read/read-job.ts';
import { Tally } from '../../../src/archiver/report/tally.ts';
import { bytesOfText } from '../../../src/base/byte-path.ts';
import type { Entry } from '../../../src/format/tree.ts';

const stat = {
  mode: 0o100644,
  nlink: 3,
  uid: 1,
  gid: 1,
  size: 10,
  blocks: 8,
  dev: 5n,
  ino: 77n,
  mtimeNs: 1_000n,
  ctimeNs: 2_000n,
  rdevMajor: 0,
  rdevMinor: 0,
};

const nothingElse: TaskExtras = {
  changed: false,
  stat: undefined,
  holes: [],
  xattrs: undefined,
  xattrProblems: [],
  problem: undefined,
};

/** Three names of one inode on their way to be read. */
function threeNames() {
  const jobs: ReadJob[] = [];
  const tally = new Tally(SILENT);
  const batcher = new Batcher((batch) => jobs.push(...batch.jobs));
  const saver = new FileSaver(batcher, tally, (content) => ({ content, indirect: false }));
  const entries = new Map<string, Entry | undefined>();
  for (const name of ['a', 'b', 'c']) {
    const file: FileToSave = {
      path: bytesOfText(`/${name}`),
      name: bytesOfText(name),
      stat,
      directory: undefined,
      old: undefined,
      looks: 0,
    };
    saver.save(file, (entry) => entries.set(name, entry));
  }
  /** Ends the reading of what waits for it. */
  const answer = (extras: Partial<TaskExtras>): string => {
    batcher.flush();
    const job = jobs.shift();
    job?.done({ ids: Buffer.alloc(24, 1), size: 10, extras: { ...nothingElse, ...extras } });
    return job?.path ?? 'nothing';
  };
  return { tally, entries, answer };
}

describe('several names of one file', () => {
  test('are read by the first of them', () => {
    const { entries, answer, tally } = threeNames();
    expect([answer({}), answer({})]).toEqual(['/a', 'nothing']);
    expect([...entries.values()].map((entry) => entry?.name)).toEqual(['a', 'b', 'c']);
    expect(tally.bytesRead).toBe(10);
  });

  test('are all listed when it changed while it was read', () => {
    const { entries, answer, tally } = threeNames();
    answer({ changed: true });
    expect(tally.problems.map(({ path, code }) => [path, code])).toEqual([
      ['/a', 'CHANGED'],
      ['/b', 'CHANGED'],
      ['/c', 'CHANGED'],
    ]);
    expect([...entries.values()].every((entry) => entry?.type === 'file' && entry.changedWhileRead)).toBe(
      true,
    );
  });

  test('are read one after the other as long as none can be read', () => {
    const { entries, answer, tally } = threeNames();
    const problem = { code: 'EIO', message: 'broken' };
    expect([answer({ problem }), answer({ problem }), answer({})]).toEqual(['/a', '/b', '/c']);
    expect(tally.problems.map(({ path }) => path)).toEqual(['/a', '/b']);
    expect(tally.filesFailed).toBe(2);
    expect(entries.get('c')?.name).toBe('c');
  });

  test('are read by the next one when the first has become another file', () => {
    const { entries, answer } = threeNames();
    const { mtimeNs, ctimeNs, size, blocks, uid, gid } = stat;
    const other = { mtimeNs, ctimeNs, size, blocks, uid, gid, mode: 0o600, inode: 78 };
    expect([answer({ stat: other }), answer({}), answer({})]).toEqual(['/a', '/b', 'nothing']);
    expect([...entries.values()].map((entry) => entry?.inode)).toEqual([78, 77, 77]);
  });
});

describe('a file that is one hole', () => {
  function saved(size: number) {
    const jobs: ReadJob[] = [];
    const tally = new Tally(SILENT);
    const batcher = new Batcher((batch) => jobs.push(...batch.jobs));
    const saver = new FileSaver(batcher, tally, (content) => ({ content, indirect: false }));
    const entries: (Entry | undefined)[] = [];
    const path = bytesOfText('/huge');
    const hollow = { ...stat, nlink: 1, size, blocks: 0 };
    saver.save(
      { path, name: bytesOfText('huge'), stat: hollow, directory: undefined, old: undefined, looks: 0 },
      (entry) => entries.push(entry),
    );
    batcher.flush();
    return { jobs, tally, entries };
  }

  test('is read in spans that together are all of it, and few, however large it is', () => {
    for (const size of [2 ** 28, 2 ** 40 + 1, 2 ** 50, Number.MAX_SAFE_INTEGER]) {
      const { jobs } = saved(size);
      expect(jobs.length).toBeLessThanOrEqual(1_024);
      let end = 0;
      for (const { span } of jobs) {
        expect(span?.offset).toBe(end);
        end += span?.length ?? 0;
      }
      expect(end).toBe(size);
    }
  });

  test('is listed as too large where its size cannot be stored', () => {
    const { jobs, tally, entries } = saved(2 ** 63 - 1);
    expect(jobs).toEqual([]);
    expect(entries).toEqual([undefined]);
    expect(tally.problems.map(({ path, code }) => [path, code])).toEqual([['/huge', 'EFBIG']]);
    expect(tally.filesFailed).toBe(1);
  });
});
