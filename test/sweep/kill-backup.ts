/** Kills backups at any moment and holds the next run to what a kill may cost: nothing but the work in hand. */
import { expect } from 'vitest';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { changeCorpus, copyAside, makeCorpus, type CorpusScale } from './corpus.ts';
import { judgeOf } from './library-oracle.ts';
import { expectNoOrphans, measureStoredAgain, snapshotIds, type Judge } from './oracle.ts';
import { Histogram, progress, randomMoment, type Measured } from './phases.ts';
import { countCalls, runAndKill, succeed, type Moment, type Outcome, type Place } from './program.ts';
import { succeedAgain } from './warm-program.ts';
import { added, bytesOf, isTreePack, listRepository, type Listing } from './stored-objects.ts';
import type { PackSizes, Workspace } from './workspace.ts';

export interface KillPlan {
  readonly kills: number;
  readonly seed: number;
  readonly scale: CorpusScale;
  readonly sizes: PackSizes;
  /** Go on until a kill has landed in every phase. */
  readonly everyPhase: boolean;
  /** After each so many-th kill everything is looked at that can be. */
  readonly thoroughEvery: number;
}

export const BACKUP_PHASES = [
  'before the first pack',
  'among packs',
  'between packs and index',
  'between index and snapshot',
  'after the snapshot',
] as const;
type BackupPhase = (typeof BACKUP_PHASES)[number];

export interface BackupKills {
  readonly phases: Histogram<BackupPhase>;
  /** Largest share of the bytes in finished packs that the next run stored once more. */
  readonly storedAgainMax: number;
  readonly secondKills: number;
}

/** What a series of kills starts from, again and again. */
interface Series {
  readonly workspace: Workspace;
  readonly name: 'first' | 'incremental';
  readonly base: Place;
  readonly source: string;
  /** What each snapshot must restore to: the base's own, then the one that is being made. */
  readonly versions: { readonly ofBase: ReadonlyMap<string, string>; readonly now: string };
  readonly measured: Measured;
  /** Objects and bytes of packs that an undisturbed run adds. */
  readonly newObjects: number;
  readonly newPackBytes: number;
}

/** Attempts to hit a phase for each kill asked for, before the sweep gives up. */
const MOST_ATTEMPTS = 4;
/** Part of the kills after which the next run is killed once more. */
const SECOND_KILLS = 0.2;
/** Undisturbed runs differ by so much in the bytes of their packs: the threads share the files out anew each time. */
const PACKING_VARIANCE = 0.03;

export async function sweepBackupKills(
  workspace: Workspace,
  name: Series['name'],
  plan: KillPlan,
): Promise<BackupKills> {
  const random = seededRandom(plan.seed);
  const series = await prepare(workspace, name, plan, random);
  const phases = new Histogram<BackupPhase>(BACKUP_PHASES);
  let storedAgainMax = 0;
  let secondKills = 0;
  for (
    let attempt = 0;
    phases.total < plan.kills || (plan.everyPhase && phases.missed.length > 0);
    attempt += 1
  ) {
    expect(attempt, `kills so far: ${phases.toString()}`).toBeLessThan(plan.kills * MOST_ATTEMPTS + 20);
    const place = workspace.copy(series.base, 'victim');
    const before = listRepository(place.repository);
    const moment = chooseMoment(random, series, before, place, phases);
    const outcome = await runAndKill(place, ['backup', series.source], moment);
    if (!outcome.killed) continue;
    const phase = phaseOf(place, before);
    phases.add(phase);
    if (random.next() < SECOND_KILLS && (await killAgain(random, series, place))) secondKills += 1;
    const thorough = phases.total % plan.thoroughEvery === 0;
    const share = await expectRecovered(series, place, before, { thorough, judge: judgeOf(phases.total) });
    storedAgainMax = Math.max(storedAgainMax, share);
    const shown = `${phase}; ${(share * 100).toFixed(2)} % stored again`;
    progress(`${name} backup`, phases.total, plan.kills, moment, shown);
  }
  return { phases, storedAgainMax, secondKills };
}

async function prepare(
  workspace: Workspace,
  name: Series['name'],
  { scale, sizes }: KillPlan,
  random: SeededRandom,
): Promise<Series> {
  const source = workspace.path('source');
  makeCorpus(source, scale, random);
  const base = await workspace.create('base', sizes);
  const ofBase = new Map<string, string>();
  let now = workspace.path('version-1');
  copyAside(source, now);
  if (name === 'incremental') {
    await succeed(base, ['backup', source]);
    for (const id of await snapshotIds(base)) ofBase.set(id, now);
    changeCorpus(source, 2, random);
    now = workspace.path('version-2');
    copyAside(source, now);
  }
  const before = listRepository(base.repository);
  const calls = await countCalls(workspace.copy(base, 'counted'), ['backup', source]);
  const timed = workspace.copy(base, 'timed');
  const { durationMs } = await succeed(timed, ['backup', source]);
  const after = listRepository(timed.repository);
  return {
    workspace,
    name,
    base,
    source,
    versions: { ofBase, now },
    measured: { durationMs, calls },
    newObjects: added(before, after, '').length,
    newPackBytes: bytesOf(added(before, after, 'packs/')),
  };
}

/** Half at random, half when the K-th object appears; once half is done, what has not been hit is aimed at. */
function chooseMoment(
  random: SeededRandom,
  { measured, newObjects }: Series,
  before: Listing,
  place: Place,
  phases: Histogram<BackupPhase>,
): Moment {
  const missed = phases.missed[random.below(Math.max(1, phases.missed.length))];
  if (missed !== undefined && random.next() < 0.5) return momentOf(missed, random, measured, before, place);
  if (random.next() < 0.5) return randomMoment(random, measured);
  const wanted = 1 + random.below(newObjects);
  const reached = (): boolean => added(before, listRepository(place.repository), '').length >= wanted;
  return { kind: 'event', name: `at object ${wanted} of ${newObjects}`, reached };
}

function momentOf(
  phase: BackupPhase,
  random: SeededRandom,
  { durationMs, calls }: Measured,
  before: Listing,
  place: Place,
): Moment {
  const seen = (prefix: string) => added(before, listRepository(place.repository), prefix);
  const when = (name: string, reached: () => boolean): Moment => ({ kind: 'event', name, reached });
  switch (phase) {
    case 'before the first pack':
      return { kind: 'time', afterMs: (random.next() * durationMs) / 3 };
    case 'among packs':
      return when('at the first pack', () => seen('packs/').length > 0);
    case 'between packs and index':
      return when('at the tree pack', () =>
        seen('packs/').some((pack) => isTreePack(place.repository, pack)),
      );
    case 'between index and snapshot':
      return random.next() < 0.5
        ? when('at the index object', () => seen('index/').length > 0)
        : { kind: 'call', number: calls - random.below(25) };
    case 'after the snapshot':
      return random.next() < 0.5
        ? when('at the snapshot', () => seen('snapshots/').length > 0)
        : { kind: 'call', number: calls - random.below(10) };
  }
}

/** By what the killed run had stored. The tree pack is the last one, stored once all data packs are. */
function phaseOf({ repository }: Place, before: Listing): BackupPhase {
  const after = listRepository(repository);
  const packs = added(before, after, 'packs/');
  if (added(before, after, 'snapshots/').length > 0) return 'after the snapshot';
  if (added(before, after, 'index/').length > 0) return 'between index and snapshot';
  if (packs.some((pack) => isTreePack(repository, pack))) return 'between packs and index';
  return packs.length > 0 ? 'among packs' : 'before the first pack';
}

async function killAgain(random: SeededRandom, series: Series, place: Place): Promise<boolean> {
  const moment = randomMoment(random, series.measured);
  const { killed }: Outcome = await runAndKill(place, ['backup', series.source], moment);
  return killed;
}

/** The next run completes and stores little again, and everything that was ever committed is whole. */
async function expectRecovered(
  series: Series,
  place: Place,
  before: Listing,
  { thorough, judge }: { readonly thorough: boolean; readonly judge: Judge },
): Promise<number> {
  const { workspace, source, versions } = series;
  const killed = listRepository(place.repository);
  await succeedAgain(place, ['backup', source]);
  const after = listRepository(place.repository);
  const { finishedBytes, againBytes } = await measureStoredAgain(place, before, killed, after);
  expect(againBytes).toBeLessThanOrEqual(finishedBytes * 0.1);
  expectLittleUploaded(series, before, killed, after);
  await judge.expectClean(place);
  const ids = await snapshotIds(place, judge);
  expect(ids.length).toBeGreaterThan(versions.ofBase.size);
  for (const id of versions.ofBase.keys()) expect(ids).toContain(id);
  for (const id of ids) {
    await judge.expectRestores(workspace, place, id, source, versions.ofBase.get(id) ?? versions.now);
  }
  if (thorough) await expectNoOrphans(place, judge);
  return finishedBytes === 0 ? 0 : againBytes / finishedBytes;
}

/** The same by sizes in the listing alone, within what undisturbed runs differ. */
function expectLittleUploaded(series: Series, before: Listing, killed: Listing, after: Listing): void {
  const finished = bytesOf(added(before, killed, 'packs/'));
  const uploaded = bytesOf(added(killed, after, 'packs/'));
  const missing = Math.max(0, series.newPackBytes - finished);
  const allowance = finished * 0.1 + series.newPackBytes * PACKING_VARIANCE;
  expect(uploaded - missing).toBeLessThanOrEqual(allowance);
}
