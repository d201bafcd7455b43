/** Judges damages by the program itself: exit codes, reports, and what a new backup makes good. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Finding } from '../../src/repository/check/check-report.ts';
import { removeTree } from '../support/remove-tree.ts';
import { expectOnlyLost, wantedFindings, type LostPaths } from './damage-judge.ts';
import type { Site } from './damage-site.ts';
import { shownDamage, type Damage } from './damage.ts';
import { expectRestores } from './oracle.ts';
import { describeFailure, jsonLines, run, succeed, type Place } from './program.ts';
import type { Workspace } from './workspace.ts';

/** What was found in this process, `lost` included, is what the program says and does. */
export async function judgeByProgram(
  workspace: Workspace,
  site: Site,
  place: Place,
  damage: Damage,
  keys: readonly string[],
  lost: LostPaths,
): Promise<void> {
  const outcome = await run(place, ['check', '--read-data', '--json']);
  const said = jsonLines(outcome).at(-1);
  expect(said?.['type'], shownDamage(damage)).toBe('check');
  const findings = said?.['findings'] as Pick<Finding, 'severity' | 'object'>[];
  const found = findings.map(({ object }) => object);
  for (const objects of wantedFindings(site, damage, keys)) {
    const named = objects.some((object) => found.includes(object));
    expect(named, `${shownDamage(damage)}: ${found.join(', ')}`).toBe(true);
  }
  const isDamaged = findings.some(({ severity }) => severity === 'error');
  expect(outcome.code, shownDamage(damage)).toBe(isDamaged ? 1 : 0);
  for (const [id, paths] of lost) await expectRestored(workspace, site, place, damage, id, paths);
}

/** Exit code 3 and a line for each lost path, or 0; a snapshot whose root is lost cannot be restored at all. */
async function expectRestored(
  workspace: Workspace,
  site: Site,
  place: Place,
  damage: Damage,
  id: string,
  lost: readonly string[],
): Promise<void> {
  const origin = site.snapshots.get(id);
  if (origin === undefined) throw new Error(`snapshot ${id} is not one of the site's`);
  const target = workspace.fresh();
  try {
    const words = ['restore', id, '--target', target, '--json'];
    const outcome = await run(place, words);
    const said = `${shownDamage(damage)}: ${describeFailure(words, outcome)}`;
    if (lost.includes('/')) {
      expect(outcome.code, said).toBe(1);
      return;
    }
    expect(outcome.code, said).toBe(lost.length > 0 ? 3 : 0);
    const problems = jsonLines(outcome).filter(({ type }) => type === 'problem');
    expect(problems.map(({ path }) => String(path)).toSorted(), said).toEqual([...lost].toSorted());
    expectOnlyLost(origin, target, lost, said);
  } finally {
    removeTree(target);
  }
}

/**
 * Removes packs that the newest snapshot needs, one at a time. The source still has everything, so a new backup is whole
 * again; it may not commit a snapshot that lacks what is missing.
 */
export async function expectBackupHeals(workspace: Workspace, site: Site, packs: number): Promise<number> {
  const [, newest] = [...site.snapshots.values()];
  if (newest === undefined) throw new Error('the site has no snapshots');
  const needed = site.objects.filter(
    ({ key, kind }) => site.neededPacks.has(key) && (kind === 'data pack' || kind === 'tree pack'),
  );
  for (const { key } of needed.slice(0, packs)) {
    const place = workspace.copy(site.place, 'healed');
    rmSync(join(place.repository, key));
    const outcome = await succeed(place, ['backup', newest.source, '--json']);
    const id = String(jsonLines(outcome).at(-1)?.['snapshot_id']);
    await expectRestores(workspace, place, id, newest.source, newest.tree);
  }
  return Math.min(packs, needed.length);
}
