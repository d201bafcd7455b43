import { statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ArchiveSummary } from '../../src/archiver/archive.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { omissions, openEngine, type Engine } from '../support/engine.ts';
import { makeTortureTree, type TortureReport } from '../support/torture-tree.ts';

/** As an ordinary user much of the tree cannot be made, read or given back. */
describe.runIf(process.getuid?.() === 0)('a tree with everything in it, as root', () => {
  let engine: Engine;
  let made: TortureReport;
  let first: ArchiveSummary;

  beforeAll(async () => {
    engine = await openEngine();
    // What is large is tested where its size is the subject.
    made = await makeTortureTree(engine.source, { without: ['many', 'sparse'] });
    // Files touched within the last tick before a run are read again by the next one.
    await delay(40);
    first = await engine.backup(undefined, { workers: 2 });
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
  });

  test('is stored whole: no entry is missing and nothing is left out', () => {
    expect(made.made.length).toBeGreaterThan(150);
    expect(first.snapshot.record.errors).toEqual([]);
    expect(first.snapshot.record.omitted).toEqual(omissions());
    expect(first.snapshot.record.status).toBe('complete');
  });

  test('comes back without any difference', async () => {
    const { source, summary } = await engine.restoreTo('back', first.snapshot);
    expect(summary.errors).toEqual([]);
    expect(compareTrees(engine.source, source).map(shownDifference)).toEqual([]);
  });

  test('costs nothing the second time: nothing is read and no pack is stored', async () => {
    const unchanged = await backupUntilParentsRest(engine, first);
    const { record } = unchanged.snapshot;
    expect(record.root.equals(unchanged.before.snapshot.record.root)).toBe(true);
    expect(record.counts).toMatchObject({ new: 0, changed: 0, failed: 0, unchanged: record.counts.files });
    expect(unchanged.bytesRead).toBe(0);
    expect(unchanged.bytesNew).toBe(0);
    expect(engine.calls.count('put', 'packs/')).toBe(0);
    expect(engine.calls.count('put', 'index/')).toBe(0);
    expect(engine.calls.count('put', 'snapshots/')).toBe(1);
    expect(engine.calls.count('put', 'heads/')).toBe(1);
    // The sign that a backup is at work, and nothing else.
    expect(engine.calls.count('put')).toBe(3);
  });
});

/**
 * Backs up again. The directories above the source are part of the tree, and others may touch /tmp between two runs:
 * then once more.
 */
async function backupUntilParentsRest(
  engine: Engine,
  first: ArchiveSummary,
): Promise<ArchiveSummary & { before: ArchiveSummary }> {
  let before = first;
  let timesBefore = '';
  for (let tries = 1; ; tries += 1) {
    const times = timesAbove(engine.directory);
    engine.calls.reset();
    const summary = await engine.backup();
    const steady = times === timesBefore && times === timesAbove(engine.directory);
    if (steady || tries === 50) return { ...summary, before };
    before = summary;
    timesBefore = times;
  }
}

function timesAbove(directory: string): string {
  const times: bigint[] = [];
  for (let here = directory; here !== '/'; here = path.dirname(here)) {
    times.push(statSync(here, { bigint: true }).mtimeNs);
  }
  return times.join(' ');
}
