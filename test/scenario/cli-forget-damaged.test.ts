/** Snapshots that nobody can read any more: prune says how they are given up, and that is how it goes. */
// Turn 5 of 8.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../../src/cli/command/exit-codes.ts';
import { jsonLines, openPlace, type Place } from '../support/cli.ts';

async function backedUp(place: Place, times: number): Promise<readonly string[]> {
  await place.expectRun(['init']);
  const ids: string[] = [];
  for (let i = 0; i < times; i += 1) {
    await place.write({ 'a.txt': `version ${i}` });
    const summary = jsonLines(await place.expectRun(['backup', '--json', place.source])).at(-1);
    ids.push(String(summary?.['snapshot_id']));
  }
  return ids;
}

async function expectNoPrune(place: Place, id: string): Promise<void> {
  const { stderr } = await place.expectRun(['prune'], EXIT.failed);
  expect(stderr).toContain(`Snapshot ${id} cannot be read`);
  expect(stderr).toContain('forget it by its id');
}

/** It goes with a later prune, and all others restore. */
async function expectPrunes(place: Place, left: number): Promise<void> {
  await place.expectRun(['prune']);
  const { stdout } = await place.expectRun(['check'], EXIT.failed);
  expect(stdout).toContain('it is forgotten: prune removes it');
  const listed = jsonLines(await place.expectRun(['snapshots', '--json']));
  expect(listed).toHaveLength(left);
  for (const [i, { id }] of listed.entries())
    await place.expectRun(['restore', String(id), '--target', join(place.directory, `back-${i}`)]);
}

test.each([
  ['in the middle of the chain', 1],
  ['the newest of the chain', 2],
])('a damaged snapshot, %s, is forgotten by its id', async (_, which) => {
  await using place = await openPlace();
  const id = (await backedUp(place, 3))[which] ?? '';
  const file = join(place.repository, 'snapshots', id);
  const bytes = readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(60) ^ 1, 60);
  writeFileSync(file, bytes);
  await expectNoPrune(place, id);

  expect((await place.expectRun(['forget', id.slice(0, 5)], EXIT.failed)).stderr).toContain('no snapshot');
  const { stdout } = await place.expectRun(['forget', id.slice(0, 8)]);
  expect(stdout).toContain('1 snapshot removed');
  await expectPrunes(place, 2);
});

test('what only bears the name of a snapshot is forgotten by it', async () => {
  await using place = await openPlace();
  await backedUp(place, 1);
  const id = 'ab'.repeat(32);
  writeFileSync(join(place.repository, 'snapshots', id), 'junk');
  await expectNoPrune(place, id);
  await place.expectRun(['forget', id]);
  await expectPrunes(place, 1);
  expect(readdirSync(join(place.repository, 'snapshots'))).toHaveLength(2);
});
