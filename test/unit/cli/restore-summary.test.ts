import { describe, expect, it } from 'vitest';
import { asByteString } from '../../../src/base/byte-path.ts';
import { lackingLines } from '../../../src/cli/restore-summary.ts';
import type { SnapshotRecord } from '../../../src/format/records.ts';
import { directory, file, handMadeSnapshot, memoryRepository } from '../../support/hand-made-snapshot.ts';

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
    expect(await told(partial)).toContain('could not read 1 entry, which the snapshot lacks.');
    expect(await told({ ...partial, errorsMore: 2 })).toContain('could not read 3 entries, which');
  });

  it('says which files are a mixture', async () => {
    const torn = [problem('/b', 'CHANGED'), problem('/c', 'CHANGED')];
    expect(await told({ status: 'partial', errors: torn })).toContain(
      'The backup read 2 files while something wrote to them.',
    );
    expect(await told({ status: 'partial', errors: [problem('/a'), ...torn] })).toContain(
      'could not read 1 entry, which the snapshot lacks, and read 2 files while',
    );
  });

  it('is silent where the backup read everything', async () => {
    const whole = await handMadeSnapshot(await memoryRepository(signal), directory({}), {}, signal);
    expect(lackingLines(whole)).toEqual([]);
  });
});
