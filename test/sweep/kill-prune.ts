/** Kills prune at any moment: whatever it was doing, every snapshot stays whole, and the next prune finishes the work. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { changeCorpus, copyAside, makeCorpus } from './corpus.ts';
import type { KillPlan } from './kill-backup.ts';
import { judgeOf } from './library-oracle.ts';
import { expectNoOrphans, snapshotIds, type Judge } from './oracle.ts';
import { Histogram, progress, randomMoment, type Measured } from './phases.ts';
import { countCalls, runAndKill, succeed, type Moment, type Place } from './program.ts';
import { succeedAgain } from './warm-program.ts';
import { added, expireLeases, listRepository, type Listing } from './stored-objects.ts';
import type { Workspace } from './workspace.ts';

export const PRUNE_PHASES = [
  'before any change',
  'new packs, no index',
  'new index, no tombstone',
  'tombstone, no removal',
  'among removals',
  'after the last removal',
] as const;
type PrunePhase = (typeof PRUNE_PHASES)[number];

/** All at once on a repository of one's own, or marking first and removing when the grace period is over. */
export type PruneKind = 'at once' | 'marking' | 'removing';

/** Phases that a kind of prune goes through. */
const PHASES_OF: Readonly<Record<PruneKind, readonly PrunePhase[]>> = {
  'at once': PRUNE_PHASES,
  marking: PRUNE_PHASES.slice(0, 4),
  removing: ['before any change', 'new index, no tombstone', 'among removals', 'after the last removal'],
};

const GRACE_SECONDS = 1;
const WORDS: Readonly<Record<PruneKind, readonly string[]>> = {
  'at once': ['prune', '--grace', '0', '--no-other-writers'],
  marking: ['prune', '--grace', `${GRACE_SECONDS}s`, '--no-other-writers'],
  removing: ['prune', '--grace', `${GRACE_SECONDS}s`, '--no-other-writers'],
};

export interface PruneKills {
  readonly phases: Readonly<Record<PruneKind, Histogram<PrunePhase>>>;
  /** Backups that were run directly after a kill, while the dead prune's lease still stood. */
  readonly backupsBeside: number;
}

interface Series {
  readonly workspace: Workspace;
  readonly source: string;
  /** Live snapshots and what they restore to. */
  readonly versions: ReadonlyMap<string, string>;
  /** What the source holds now. */
  readonly now: string;
  readonly kinds: Readonly<Record<PruneKind, Kind>>;
}

interface Kind {
  readonly kind: PruneKind;
  readonly base: Place;
  readonly measured: Measured;
  /** Packs that an undisturbed run removes. */
  readonly removes: number;
}

const MOST_ATTEMPTS = 6;

export async function sweepPruneKills(workspace: Workspace, plan: KillPlan): Promise<PruneKills> {
  const random = seededRandom(plan.seed);
  const series = await prepare(workspace, plan, random);
  const histogram = (kind: PruneKind): Histogram<PrunePhase> => new Histogram(PHASES_OF[kind]);
  const phases = {
    'at once': histogram('at once'),
    marking: histogram('marking'),
    removing: histogram('removing'),
  };
  const all = Object.values(phases);
  const total = (): number => all.reduce((sum, one) => sum + one.total, 0);
  let backupsBeside = 0;
  const missed = (): boolean => plan.everyPhase && all.some((one) => one.missed.length > 0);
  for (let attempt = 0; total() < plan.kills || missed(); attempt += 1) {
    const soFar = all.map(String).join('; ');
    expect(attempt, `kills so far: ${soFar}`).toBeLessThan(plan.kills * MOST_ATTEMPTS + 40);
    const kind = chooseKind(random, phases, total() >= plan.kills);
    const { base, measured } = series.kinds[kind];
    const place = workspace.copy(base, 'victim');
    const before = listRepository(place.repository);
    const moment = momentFor(random, measured, phases[kind], before, place);
    const { killed } = await runAndKill(place, WORDS[kind], moment);
    if (!killed) continue;
    const phase = phaseOf(place, before, series.kinds[kind]);
    phases[kind].add(phase);
    const judge = judgeOf(total());
    if (total() % plan.thoroughEvery === 0) await expectAllRestore(series, place, judge);
    if (random.next() < 0.2) {
      await expectBackupBeside(series, place, judge);
      backupsBeside += 1;
    }
    await expectPruneCompletes(series, place, judge);
    progress('prune', total(), plan.kills, moment, `${kind}, ${phase}`);
  }
  return { phases, backupsBeside };
}

/** Three snapshots, of which the first is forgotten: dead packs, and packs of which little is still needed. */
async function prepare(
  workspace: Workspace,
  { scale, sizes }: KillPlan,
  random: SeededRandom,
): Promise<Series> {
  const source = workspace.path('source');
  makeCorpus(source, scale, random);
  const base = await workspace.create('base', sizes);
  const versions = new Map<string, string>();
  let now = '';
  for (let version = 1; version <= 3; version += 1) {
    if (version > 1) changeCorpus(source, version, random);
    now = workspace.path(`version-${version}`);
    copyAside(source, now);
    await succeed(base, ['backup', source]);
    const newest = (await snapshotIds(base)).at(-1);
    if (newest !== undefined) versions.set(newest, now);
  }
  const [first] = versions.keys();
  if (first === undefined) throw new Error('no snapshot was made');
  await succeed(base, ['forget', first]);
  versions.delete(first);
  const marked = workspace.copy(base, 'marked');
  await succeed(marked, WORDS.marking);
  await sleep(GRACE_SECONDS * 1_000);
  const kinds = {
    'at once': await measure(workspace, 'at once', base),
    marking: await measure(workspace, 'marking', base),
    removing: await measure(workspace, 'removing', marked),
  };
  expect(kinds['at once'].removes).toBeGreaterThan(2);
  expect(kinds.marking.removes).toBe(0);
  expect(kinds.removing.removes).toBe(kinds['at once'].removes);
  return { workspace, source, versions, now, kinds };
}

async function measure(workspace: Workspace, kind: PruneKind, base: Place): Promise<Kind> {
  const calls = await countCalls(workspace.copy(base, 'counted'), WORDS[kind]);
  const timed = workspace.copy(base, 'timed');
  const { durationMs } = await succeed(timed, WORDS[kind]);
  const removes = removedPacks(listRepository(base.repository), listRepository(timed.repository));
  return { kind, base, measured: { durationMs, calls }, removes };
}

function removedPacks(before: Listing, after: Listing): number {
  return added(after, before, 'packs/').length;
}

function chooseKind(
  random: SeededRandom,
  phases: Readonly<Record<PruneKind, Histogram<PrunePhase>>>,
  onlyMissed: boolean,
): PruneKind {
  const kinds: PruneKind[] = ['at once', 'at once', 'marking', 'removing'];
  const left = onlyMissed ? kinds.filter((kind) => phases[kind].missed.length > 0) : kinds;
  return left[random.below(left.length)] ?? 'at once';
}

function momentFor(
  random: SeededRandom,
  measured: Measured,
  phases: Histogram<PrunePhase>,
  before: Listing,
  place: Place,
): Moment {
  const missed = phases.missed[random.below(Math.max(1, phases.missed.length))];
  if (missed === undefined || random.next() < 0.5) return randomMoment(random, measured);
  const now = (): Listing => listRepository(place.repository);
  const when = (name: string, reached: () => boolean): Moment => ({ kind: 'event', name, reached });
  switch (missed) {
    case 'before any change':
      return { kind: 'call', number: 1 + random.below(12) };
    case 'new packs, no index':
      return when('at the first new pack', () => added(before, now(), 'packs/').length > 0);
    case 'new index, no tombstone':
      return when('at the new index', () => added(before, now(), 'index/').length > 0);
    case 'tombstone, no removal':
      return when('at the tombstone', () => added(before, now(), 'trash/').length > 0);
    case 'among removals':
      return when('at the first removal', () => removedPacks(before, now()) > 0);
    case 'after the last removal':
      return { kind: 'call', number: measured.calls - random.below(12) };
  }
}

function phaseOf({ repository }: Place, before: Listing, { removes }: Kind): PrunePhase {
  const after = listRepository(repository);
  const gone = removedPacks(before, after);
  if (gone > 0) return gone < removes ? 'among removals' : 'after the last removal';
  if (added(before, after, 'trash/').length > 0) return 'tombstone, no removal';
  if (added(before, after, 'index/').length > 0) return 'new index, no tombstone';
  return added(before, after, 'packs/').length > 0 ? 'new packs, no index' : 'before any change';
}

async function expectAllRestore(
  { workspace, source, versions }: Series,
  place: Place,
  judge: Judge,
): Promise<void> {
  const live = await snapshotIds(place, judge);
  expect(live.filter((id) => versions.has(id))).toEqual([...versions.keys()]);
  for (const [id, version] of versions) await judge.expectRestores(workspace, place, id, source, version);
}

/** A backup does not have to wait until the lease of the dead prune has run out. */
async function expectBackupBeside(
  { workspace, source, now }: Series,
  place: Place,
  judge: Judge,
): Promise<void> {
  await succeedAgain(place, ['backup', source]);
  const newest = (await snapshotIds(place, judge)).at(-1);
  if (newest === undefined) throw new Error('the backup made no snapshot');
  await judge.expectRestores(workspace, place, newest, source, now);
}

async function expectPruneCompletes(series: Series, place: Place, judge: Judge): Promise<void> {
  await judge.expectClean(place, { warnings: true });
  expireLeases(place.repository);
  await expectNoOrphans(place, judge);
  await expectAllRestore(series, place, judge);
}
