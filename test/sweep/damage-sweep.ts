/** Inflicts damages one after the other on fresh copies of one small repository and judges each. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { expectAllIndexesRebuilt, expectRecovers, judge, type Detection } from './damage-judge.ts';
import { expectBackupHeals, judgeByProgram } from './damage-program.ts';
import { OBJECT_KINDS, makeSite, type Site } from './damage-site.ts';
import { inflict, passLength, planDamages, shownDamage, type Damage } from './damage.ts';
import { copyAside } from './corpus.ts';
import { expectSame } from './oracle.ts';
import type { Workspace } from './workspace.ts';

export interface DamagePlan {
  readonly damages: number;
  readonly seed: number;
  /** Each so many-th damage is also judged by the program itself. */
  readonly byProgramEvery: number;
  /** Each so many-th is followed by a recover. */
  readonly recoverEvery: number;
  /** Restore after damages to keys and records too, which cost no files. */
  readonly alwaysRestore: boolean;
}

export interface DamageResult {
  readonly damages: number;
  /** How many kinds of damage to how many kinds of object one pass has. */
  readonly variety: number;
  readonly detections: Readonly<Record<Detection, number>>;
  readonly byProgram: number;
  readonly recovered: number;
  /** Damages that cost files. */
  readonly costly: number;
}

export async function sweepDamages(workspace: Workspace, plan: DamagePlan): Promise<DamageResult> {
  const random = seededRandom(plan.seed);
  const site = await makeSite(workspace, 'site', random);
  const stranger = await makeSite(workspace, 'stranger', random);
  await expectSound(workspace, site);
  const restores = plan.alwaysRestore ? 'always' : 'where data is struck';
  const detections = { found: 0, 'none promised': 0 };
  let byProgram = 0;
  let recovered = 0;
  let costly = 0;
  const damages = planDamages(site, stranger, plan.damages, random);
  for (const [i, damage] of damages.entries()) {
    const place = workspace.copy(site.place, 'damaged');
    const keys = inflict(place.repository, stranger, damage, random);
    const { detection, lost } = await judge(workspace, site, place, damage, keys, restores);
    detections[detection] += 1;
    const isCostly = [...lost.values()].some((paths) => paths.length > 0);
    if (isCostly) costly += 1;
    // Those that cost files are rarer, so one in three of them.
    if (i % plan.byProgramEvery === 0 || (isCostly && costly % 3 === 1)) {
      await judgeByProgram(workspace, site, place, damage, keys, lost);
      byProgram += 1;
    }
    if (i % plan.recoverEvery === 0 || damage.object.kind === 'index') {
      await expectRecovers(workspace, site, place, damage, keys);
      recovered += 1;
    }
    if (i % 25 === 24) tell(i + 1, damages.length, damage);
  }
  const variety = passLength(site, stranger, random);
  return { damages: damages.length, variety, detections, byProgram, recovered, costly };
}

/** Packs that are gone, and the backup that stores again what was in them. Returns how many. */
export async function sweepHealing(workspace: Workspace, packs: number, seed: number): Promise<number> {
  return await expectBackupHeals(workspace, await makeSite(workspace, 'healing', seededRandom(seed)), packs);
}

/** Removes every index object, alone and together with damages to packs, and rebuilds them from the packs. */
export async function sweepIndexRebuilds(
  workspace: Workspace,
  rounds: number,
  seed: number,
): Promise<number> {
  const random = seededRandom(seed);
  const site = await makeSite(workspace, 'rebuilt', random);
  let kept = 0;
  for (let i = 0; i < rounds; i += 1) {
    const place = workspace.copy(site.place, 'damaged');
    const damage = i === 0 ? undefined : randomPackDamage(site, random);
    const keys = damage === undefined ? [] : inflict(place.repository, site, damage, random);
    rmSync(join(place.repository, 'index'), { recursive: true });
    kept += await expectAllIndexesRebuilt(workspace, site, place, damage, keys);
  }
  return kept;
}

function randomPackDamage(site: Site, random: SeededRandom): Damage {
  const packs = planDamages(site, site, passLength(site, site, random), random).filter(
    ({ object, action }) => object.kind.endsWith('pack') && !action.startsWith('foreign'),
  );
  const damage = packs[random.below(packs.length)];
  if (damage === undefined) throw new Error('the site has no packs');
  return damage;
}

/** The undamaged site passes: what is found later is the damage. */
async function expectSound(workspace: Workspace, site: Site): Promise<void> {
  for (const { tree } of site.snapshots.values()) {
    const copy = workspace.fresh();
    copyAside(tree, copy);
    expectSame(tree, copy);
  }
  expect(new Set(site.objects.map(({ kind }) => kind)).size).toBe(OBJECT_KINDS.length);
}

function tell(done: number, of: number, damage: Damage): void {
  if (process.env['HOLDFAST_SWEEP'] === undefined) return;
  process.stdout.write(`  damage ${done}/${of}: ${shownDamage(damage)}\n`);
}
