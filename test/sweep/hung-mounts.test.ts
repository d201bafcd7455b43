/**
 * SWEEP_ROUNDS (4) backups by the real program of sources in which, or on which, a file system is mounted that never
 * answers: FUSE without a program behind it. Mounting takes root and /dev/fuse.
 */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { canHang, HungMount } from './hung-mount.ts';
import { expectClean, snapshotIds } from './oracle.ts';
import { describeFailure, jsonLines, run, type Outcome, type Place } from './program.ts';
import { held, say, sweepCount, sweepSeed } from './settings.ts';
import { Workspace } from './workspace.ts';

/** Nobody waits longer for a backup because of it. Milliseconds. */
const MOST_MS = 30_000;
const PARTIAL = 3;
const WHERE = ['below', 'below, left out', 'the source', 'behind a link'] as const;
type Where = (typeof WHERE)[number];
const NAMES = ['a', 'far-not', 'z'] as const;

if (!canHang) test.skip('hung mounts were not tested: that takes root and /dev/fuse', () => {});

test.runIf(canHang)('a file system that never answers holds nothing up but itself', async () => {
  using workspace = new Workspace('hung');
  const random = seededRandom(sweepSeed());
  const rounds = sweepCount('SWEEP_ROUNDS', WHERE.length);
  const place = await workspace.create('repository', { packTarget: 500_000, segmentTarget: 131_072 });
  let slowestMs = 0;
  for (let round = 0; round < rounds; round += 1) {
    const where = WHERE[round % WHERE.length] ?? 'below';
    const source = workspace.path(`source-${round}`);
    const far = join(source, 'far');
    mkdirSync(far, { recursive: true });
    for (const name of NAMES) writeFileSync(join(source, name), random.bytes(50_000));
    const outcome = await backUpBeside(place, source, far, where);
    slowestMs = Math.max(slowestMs, outcome.durationMs);
    expect(outcome.durationMs).toBeLessThan(MOST_MS);
    await expectSaid(workspace, place, outcome, { where, source, far });
  }
  await expectClean(place);
  say(`hung mounts: ${rounds} backups, the slowest in ${Math.round(slowestMs / 100) / 10} s`, held(rounds));
});

async function backUpBeside(place: Place, source: string, far: string, where: Where): Promise<Outcome> {
  using _ = new HungMount(where === 'the source' ? source : far);
  const link = `${source}-link`;
  if (where === 'behind a link') symlinkSync(far, link);
  const words = where === 'behind a link' ? [`${link}/`] : [source];
  return await run(place, [
    'backup',
    '--json',
    ...(where === 'below, left out' ? ['--exclude', 'far'] : []),
    ...words,
  ]);
}

async function expectSaid(
  workspace: Workspace,
  place: Place,
  outcome: Outcome,
  { where, source, far }: { where: Where; source: string; far: string },
): Promise<void> {
  const said = describeFailure(['backup', where], outcome);
  const lines = jsonLines(outcome);
  if (where === 'the source' || where === 'behind a link') {
    expect(outcome.code, said).toBe(1);
    expect(lines.at(-1), said).toMatchObject({ type: 'error', code: 'INVALID_SOURCE' });
    return;
  }
  expect(outcome.code, said).toBe(where === 'below' ? PARTIAL : 0);
  const problems = lines.filter(({ type }) => type === 'problem').map(({ path }) => path);
  expect(problems).toEqual(where === 'below' ? [far] : []);
  const newest = (await snapshotIds(place)).at(-1) ?? '';
  const target = workspace.fresh();
  const restored = await run(place, ['restore', newest, '--target', target]);
  expect(restored.code).toBe(0);
  expect(readdirSync(join(target, source)).sort()).toEqual([...NAMES].sort());
  for (const name of NAMES)
    expect(readFileSync(join(target, source, name))).toEqual(readFileSync(join(source, name)));
}
