/** Which of two snapshots was made later, where clocks may be wrong. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import { planForgetting, type RetentionRules } from '../../../src/repository/retention/forgetting.ts';
import { rewriteSnapshot } from '../../../src/repository/renew/replace-snapshot.ts';
import { createRepository } from '../../../src/repository/opening.ts';
import type { Repository } from '../../../src/repository/repository.ts';
import { inOrderOfRuns } from '../../../src/repository/run-order.ts';
import { resolveSnapshot } from '../../../src/repository/resolve-snapshot.ts';
import { listSnapshots, type Snapshot } from '../../../src/repository/snapshots.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { idOf, runSnapshot, type RunFacts } from '../../support/run-snapshots.ts';
import { tinyBackup } from '../../support/tiny-archiver.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 24);
const { signal } = new AbortController();

const LAST_ONE: RetentionRules = {
  keep_last: 1,
  keep_hourly: null,
  keep_daily: null,
  keep_weekly: null,
  keep_monthly: null,
  keep_yearly: null,
  keep_within: null,
  time_zone: 'UTC',
  frozen: [],
};

async function twoBackups(
  first: number,
  second: number,
): Promise<{ readonly repository: Repository; readonly one: Snapshot; readonly two: Snapshot }> {
  const secrets = [{ secret: { kind: 'machine' as const, secret: randomBytes(32) }, label: 'test' }];
  const options = { clock: manualClock(), stateDirectory: undefined, secrets, cost: { m: 64, t: 1, p: 1 } };
  const repository = await createRepository(createMemoryDestination(), options, signal);
  const record = (startedMs: number) => ({ startedMs, finishedMs: startedMs });
  const one = await tinyBackup(repository, { f: Buffer.from('monday') }, { record: record(first) }, signal);
  const two = await tinyBackup(repository, { f: Buffer.from('tuesday') }, { record: record(second) }, signal);
  return { repository, one, two };
}

describe('of two backups of one machine whose clock was wrong during one of them', () => {
  it.each([
    ['ahead during the first', NOW + 400 * DAY, NOW],
    ['behind during the second', NOW, NOW - 400 * DAY],
    ['behind during the second, in the year 1970', NOW, 1_000],
  ])('%s: latest is the one that was made last, also when the other got a tag since', async (_, a, b) => {
    const { repository, one, two } = await twoBackups(a, b);
    expect(resolveSnapshot((await listSnapshots(repository, signal)).live, 'latest').id).toBe(two.id);
    const tagged = await rewriteSnapshot(repository, one, { tags: ['x'] }, signal);
    const { live } = await listSnapshots(repository, signal);
    expect(live.map(({ id }) => id)).toEqual([tagged.id, two.id]);
  });

  it('behind during the second: rules do not remove the one that was made last', async () => {
    const { repository, one, two } = await twoBackups(NOW, NOW - 400 * DAY);
    const { live } = await listSnapshots(repository, signal);
    const inputs = live.map(({ id, record, storedBy }) => ({ ...record, id, storedBy, partial: false }));
    expect(planForgetting(inputs, LAST_ONE, NOW).remove).toEqual([one.id]);
    expect(planForgetting(inputs, { ...LAST_ONE, keep_last: null, keep_daily: 1 }, NOW).kept).toEqual(
      new Map([
        [one.id, ['daily']],
        [two.id, ['newest']],
      ]),
    );
  });
});

type StoredRun = RunFacts & { readonly storedMs?: number };

/** Names of these in the order in which they were made, however they are listed. */
function order(runs: readonly StoredRun[]): readonly string[] {
  const names = new Map(runs.map((one) => [idOf(one.name), one]));
  const storedMs = ({ id }: Snapshot): number | undefined => names.get(id)?.storedMs;
  const listed = [runs, runs.toReversed()].map((list) =>
    inOrderOfRuns(list.map(runSnapshot), storedMs).map(({ id }) => names.get(id)?.name ?? ''),
  );
  expect(listed[1]).toEqual(listed[0]);
  return listed[0] ?? [];
}

/** Day by day, stored ten minutes after it began by a storage whose clock is right. */
function run(writer: string, seq: number, day: number, facts: Partial<StoredRun> = {}): StoredRun {
  const startedMs = NOW + day * DAY;
  return { name: `${writer}${seq}`, writer, seq, startedMs, storedMs: startedMs + 600_000, ...facts };
}

const wrong = (day: number): Partial<StoredRun> => ({ startedMs: NOW + day * DAY });
const copiedAt = (day: number): Partial<StoredRun> => ({ storedMs: NOW + day * DAY });

describe('between writers', () => {
  it('times decide where clocks are right', () => {
    expect(order([run('a', 1, 1), run('a', 2, 3), run('b', 1, 2), run('b', 2, 4)])).toEqual([
      'a1',
      'b1',
      'a2',
      'b2',
    ]);
  });

  it('one whose clock was ahead once hides none that was made later, then and afterwards', () => {
    const ahead = [run('a', 1, 1), run('a', 2, 3, wrong(400)), run('b', 1, 2), run('b', 2, 4)];
    expect(order(ahead)).toEqual(['a1', 'b1', 'a2', 'b2']);
    expect(order([...ahead, run('a', 3, 5)])).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('one whose clock was behind once is not hidden by those that were made before', () => {
    for (const day of [-400, -20_000])
      expect(order([run('a', 1, 1), run('a', 2, 3, wrong(day)), run('b', 1, 2), run('b', 2, 4)])).toEqual([
        'a1',
        'b1',
        'a2',
        'b2',
      ]);
  });

  it('one wrong clock drags no other run with it, also where the times of the storage were lost', () => {
    for (const day of [-20_000, -400, 400]) {
      const runs = [run('a', 1, 1), run('a', 2, 3), run('a', 3, 5, wrong(day)), run('a', 4, 7)];
      const all = [...runs, run('b', 1, 2), run('b', 2, 4), run('b', 3, 8)];
      const copied = all.map((one) => ({ ...one, ...copiedAt(9) }));
      expect(order(copied).filter((name) => name !== 'a3')).toEqual(['a1', 'b1', 'a2', 'b2', 'a4', 'b3']);
    }
  });

  it('a storage that gives every object the same impossible time changes nothing', () => {
    const all = [run('b', 1, 1), run('a', 1, 2), run('b', 2, 3), run('a', 2, 4)];
    expect(order(all.map((one) => ({ ...one, storedMs: 0 })))).toEqual(['b1', 'a1', 'b2', 'a2']);
  });

  it('what a machine makes after it lost its state, and its time, is newer than what it compared with', () => {
    const before = [run('b', 1, 1), run('b', 2, 2)];
    for (const facts of [wrong(-400), wrong(-20_000), { ...wrong(-400), ...copiedAt(20) }])
      expect(order([...before, run('a', 1, 3, { ...facts, parent: 'b2' })])).toEqual(['b1', 'b2', 'a1']);
  });

  it('what somebody with a write-only key says that he compared with counts for nothing', () => {
    expect(
      order([run('b', 1, 5), run('a', 1, 3, { parent: 'b1', sealedBy: 7 }), run('a', 2, 4, { sealedBy: 7 })]),
    ).toEqual(['a1', 'a2', 'b1']);
  });

  it('a circle of what was compared with what, which only a forger can make, ends', () => {
    const forged = [run('a', 1, 1, { parent: 'b2' }), run('b', 1, 2, { parent: 'a2' })];
    expect(order([...forged, run('a', 2, 3), run('b', 2, 4)])).toHaveLength(4);
  });
});

describe('a snapshot that stands for another one', () => {
  it('has the place of the run, whenever it was stored', () => {
    const stands = (seq: number): Partial<StoredRun> => ({ run: { writer: 'a', seq }, ...copiedAt(9) });
    const copies = [
      run('c', 1, 3, { ...stands(3), ...wrong(-400) }),
      run('c', 2, 1, stands(1)),
      run('c', 3, 2, stands(2)),
    ];
    expect(order(copies)).toEqual(['c2', 'c3', 'c1']);
  });

  it('comes after it while both are there', () => {
    const both = [run('a', 1, 1), run('c', 1, 1, { run: { writer: 'a', seq: 1 }, original: 'a1' })];
    expect(order(both)).toEqual(['a1', 'c1']);
  });

  it('of which only the first id is told goes by its time', () => {
    expect(order([run('c', 1, 5), run('c', 2, 1, { original: 'x' }), run('c', 3, 6)])).toEqual([
      'c2',
      'c1',
      'c3',
    ]);
  });
});
