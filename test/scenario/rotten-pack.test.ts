/** Bit rot in packs while the sources still have everything: what a check says of it, and that the next backup makes it good. */
// Turn 2 of 8.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openPlace, type Place } from '../support/cli.ts';
import { restoredPath } from '../support/restored-path.ts';

const KINDS = { data: 1, tree: 2 } as const;
type Kind = keyof typeof KINDS;

/** Flips a byte in the first segment of each pack of a kind; lengths stay. */
function rot(place: Place, kind: Kind): number {
  const packs = join(place.repository, 'packs');
  let count = 0;
  for (const shard of readdirSync(packs))
    for (const name of readdirSync(join(packs, shard))) {
      const path = join(packs, shard, name);
      const bytes = readFileSync(path);
      if (bytes[5] !== KINDS[kind]) continue;
      bytes[90] = (bytes[90] ?? 0) ^ 0xff;
      writeFileSync(path, bytes);
      count += 1;
    }
  return count;
}

async function backedUp(): Promise<Place> {
  const place = await openPlace();
  await place.write({ 'd/one.txt': 'one', 'd/two.txt': 'two' });
  await place.expectRun(['init']);
  await place.expectRun(['backup', place.source]);
  return place;
}

async function expectRestored(place: Place, name: string): Promise<void> {
  const target = join(place.directory, name);
  await place.expectRun(['restore', 'latest', '--target', target]);
  expect(readFileSync(restoredPath(target, place.source, 'd/one.txt'), 'utf8')).toBe('one');
  expect(readFileSync(restoredPath(target, place.source, 'd/two.txt'), 'utf8')).toBe('two');
}

/**
 * What the first snapshot says of the directories above the source is nowhere any more when these have changed, as that for
 * temporary files does. Content is found again under the same names, for the first snapshot, too.
 */
async function letGoOfTrees(place: Place, kind: Kind): Promise<void> {
  if (kind === 'tree') await place.expectRun(['forget', 'latest~1']);
  else await place.expectRun(['restore', 'latest~1', '--target', join(place.directory, 'first')]);
}

describe.each(['tree', 'data'] as const)('%s packs with bit rot', (kind) => {
  it('are made good by a backup after a check that found them', async () => {
    await using place = await backedUp();
    expect(rot(place, kind)).toBe(1);
    const found = await place.run(['check', '--read-data']);
    expect(found.code).toBe(1);
    expect(found.stdout).toContain('back them up again: this repairs the older snapshots as well');
    expect(found.stdout).toContain('1 damaged pack marked');

    await place.expectRun(['backup', place.source]);

    await expectRestored(place, 'out');
    await letGoOfTrees(place, kind);
    await place.expectRun(['check', '--read-data']);
  });

  it('are deleted by prune when nothing needs them any more, and stay marked until then', async () => {
    await using place = await backedUp();
    rot(place, kind);
    await place.run(['check', '--read-data']);
    const before = packCount(place);
    await place.expectRun(['backup', place.source]);
    expect(packCount(place)).toBeGreaterThan(before);
    await letGoOfTrees(place, kind);
    await place.expectRun(['prune', '--grace', '0s', '--no-other-writers']);
    await place.expectRun(['prune', '--grace', '0s', '--no-other-writers']);
    expect(rot(place, kind)).toBe(1);
  });
});

describe('A damaged pack that an old snapshot still needs', () => {
  it('stays through prunes, and no later backup relies on it', async () => {
    await using place = await backedUp();
    rot(place, 'data');
    await place.run(['check', '--read-data']);
    // What the first snapshot holds is nowhere any more.
    await place.write({ 'd/one.txt': 'other', 'd/two.txt': 'two, too' });
    await place.expectRun(['backup', place.source]);
    const packs = packCount(place);
    await place.expectRun(['prune', '--grace', '0s', '--no-other-writers']);
    expect(packCount(place)).toBe(packs);
    // Content of the first snapshot is back in the source: it must not be found in the damaged pack.
    await place.write({ 'd/one.txt': 'one', 'd/two.txt': 'two' });
    await place.expectRun(['backup', place.source]);
    await expectRestored(place, 'out');
  });
});

describe('A backup that meets damaged trees of the snapshot before', () => {
  it('marks them and stores everything again, without any check', async () => {
    await using place = await backedUp();
    rot(place, 'tree');
    rmSync(join(place.state, 'cache'), { recursive: true, force: true });
    await place.write({ 'd/three.txt': 'three' });
    const { stderr } = await place.expectRun(['backup', place.source]);
    expect(stderr).toContain('A pack of the repository was damaged');
    await expectRestored(place, 'out');
    // What the first snapshot says of its directories is lost, and nothing else.
    await place.expectRun(['check', '--read-data'], 1);
    await place.expectRun(['forget', 'latest~1']);
    await place.expectRun(['check', '--read-data']);
    await place.expectRun(['prune']);
  });
});

function packCount(place: Place): number {
  const packs = join(place.repository, 'packs');
  return readdirSync(packs).reduce((sum, shard) => sum + readdirSync(join(packs, shard)).length, 0);
}
