import { describe, expect, it } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { Output } from '../../../src/cli/terminal/output.ts';
import { lackingLines, restoreText } from '../../../src/cli/snapshots/restore-summary.ts';
import type { SnapshotRecord } from '../../../src/format/records.ts';
import type { RestoreSummary } from '../../../src/restorer/request/request.ts';
import { directory, file, handMadeSnapshot, memoryRepository } from '../../support/hand-made-snapshot.ts';
import { wholeRestore } from '../../support/whole-restore.ts';

const { signal } = new AbortController();

describe('the summary of a restore', () => {
  const problem = (path: string, code = 'EACCES') => ({ path: asByteString(path), code, message: 'why' });

  async function told(record: Partial<SnapshotRecord>): Promise<string> {
    const repository = await memoryRepository(signal);
    return lackingLines(await handMadeSnapshot(repository, directory({ f: file('f') }), record, signal)).join(
      '\n',
    );
  }

  it('says how much the backup could not read, which no restore brings back', async () => {
    const partial = { status: 'partial', errors: [problem('/a')] } as const;
    expect(await told(partial)).toContain('could not read 1 entry, missing from the snapshot.');
    expect(await told({ ...partial, errorsMore: 2 })).toContain(
      'could not read 3 entries, missing from the snapshot',
    );
  });

  it('says which files are a mixture', async () => {
    const torn = [problem('/b', 'CHANGED'), problem('/c', 'CHANGED')];
    expect(await told({ status: 'partial', errors: torn })).toContain(
      'The backup read 2 files while they were being written.',
    );
    expect(await told({ status: 'partial', errors: [problem('/a'), ...torn] })).toContain(
      'could not read 1 entry, missing from the snapshot, and read 2 files while',
    );
  });

  it('is silent where the backup read everything', async () => {
    const whole = await handMadeSnapshot(await memoryRepository(signal), directory({}), {}, signal);
    expect(lackingLines(whole)).toEqual([]);
  });

  const partial: RestoreSummary = {
    status: 'partial',
    filesRestored: 3,
    filesUnchanged: 0,
    filesSkipped: 0,
    filesFailed: 0,
    directories: 1,
    directoriesUnread: 0,
    links: 0,
    others: 0,
    bytesRestored: 3,
    bytesTotal: 3,
    omissions: [],
    errors: [problem('/d', 'CORRUPT_DATA')],
    errorsMore: 0,
    deleted: [],
    deletedMore: 0,
    durationMs: 1,
  };

  async function textOf(summary: RestoreSummary): Promise<string> {
    const repository = await memoryRepository(signal);
    const snapshot = await handMadeSnapshot(repository, directory({}), {}, signal);
    const out = new Output(process.stdout, signal);
    return restoreText(wholeRestore(repository, snapshot, '/t'), summary, { out, env: { NO_COLOR: '1' } });
  }

  it.each([
    [1, '1 file (3 B) of snapshot', 'where it was in'],
    [3, '3 files (3 B) of snapshot', 'where they were in'],
  ])('counts what went back where it came from: %s', async (filesRestored, count, where) => {
    const repository = await memoryRepository(signal);
    const snapshot = await handMadeSnapshot(repository, directory({}), {}, signal);
    const out = new Output(process.stdout, signal);
    const request = { ...wholeRestore(repository, snapshot, '/t'), target: { kind: 'in-place' } } as const;
    const text = restoreText(request, { ...partial, filesRestored }, { out, env: { NO_COLOR: '1' } });
    expect(text).toContain(count);
    expect(text).toContain(where);
  });

  it('says with which option owners come back where they were left out unasked, and to others who can', async () => {
    const repository = await memoryRepository(signal);
    const snapshot = await handMadeSnapshot(repository, directory({}), {}, signal);
    const out = new Output(process.stdout, signal);
    const owners = { kind: 'ownership', count: 17, reason: 'why', paths: [asByteString('a')] } as const;
    const told = (restoreOwnership: boolean): string =>
      restoreText(
        { ...wholeRestore(repository, snapshot, '/t'), restoreOwnership },
        { ...partial, omissions: [owners] },
        { out, env: { NO_COLOR: '1' } },
      );
    expect(told(false)).toContain(
      process.getuid?.() === 0
        ? 'Owners were not restored (17 entries): add the option --restore-ownership for it.'
        : 'Owners were not restored (17 entries): only root can, with the option --restore-ownership.',
    );
    expect(told(true)).toContain('Not restored: why:\n    owner of 17 entries');
  });

  it('says how damage is looked into, and where another version may be', async () => {
    const text = await textOf(partial);
    expect(text).toContain('check --read-data');
    expect(text).toContain('versions PATH');
    const inTheWay = await textOf({ ...partial, errors: [problem('/d', 'IN_THE_WAY')] });
    expect(inTheWay).not.toContain('damaged');
  });

  it('says that all the rest is restored only where it is known what else there was', async () => {
    expect(await textOf(partial)).toContain('1 problem: everything else is restored.');
    const unknown = await textOf({ ...partial, directoriesUnread: 2 });
    expect(unknown).not.toContain('everything else is');
    expect(unknown).toContain(
      '2 directories could not be read in part or at all: the files that were there are unknown',
    );
  });
});
