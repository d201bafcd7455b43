/** Kills rekey at any moment: whatever it was doing, everything restores, and the next run finishes the work. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { changeCorpus, copyAside, makeCorpus } from './corpus.ts';
import type { KillPlan } from './kill-backup.ts';
import { byLibrary, judgeOf } from './library-oracle.ts';
import { expectNoOrphans, type Judge } from './oracle.ts';
import { Histogram, progress, randomMoment, type Measured } from './phases.ts';
import { countCalls, jsonLines, runAndKill, succeed, type Moment, type Place } from './program.ts';
import { succeedAgain } from './warm-program.ts';
import { added, expireLeases, listRepository, type Listing } from './stored-objects.ts';
import type { Workspace } from './workspace.ts';

export const REKEY_PHASES = {
  rewriting: [
    'before any change',
    'dead packs marked',
    'new packs, old ones not marked',
    'packs marked, no snapshot',
    'among snapshots',
    'after the configuration',
  ],
  retiring: ['before any change', 'records gone, no new ring', 'new ring, old ones there', 'old rings gone'],
} as const;
type RekeyKind = keyof typeof REKEY_PHASES;
type RekeyPhase = (typeof REKEY_PHASES)[RekeyKind][number];

const GRACE_SECONDS = 1;
const PRUNE = ['prune', '--grace', '0', '--no-other-writers'];
const REKEY = ['keys', 'rekey'];

export interface RekeyKills {
  readonly phases: Readonly<Record<RekeyKind, Histogram<RekeyPhase>>>;
  /** Backups that were run directly after a kill, while the dead rekey's lease still stood. */
  readonly backupsBeside: number;
}

interface Series {
  readonly workspace: Workspace;
  readonly source: string;
  /** What each snapshot restores to, by the id that it had first. */
  readonly versions: ReadonlyMap<string, string>;
  readonly kinds: Readonly<Record<RekeyKind, Kind>>;
}

interface Kind {
  readonly base: Place;
  readonly measured: Measured;
}

const MOST_ATTEMPTS = 6;

export async function sweepRekeyKills(workspace: Workspace, plan: KillPlan): Promise<RekeyKills> {
  const random = seededRandom(plan.seed);
  const series = await prepare(workspace, plan, random);
  const phases = {
    rewriting: new Histogram<RekeyPhase>(REKEY_PHASES.rewriting),
    retiring: new Histogram<RekeyPhase>(REKEY_PHASES.retiring),
  };
  const all = Object.values(phases);
  const total = (): number => all.reduce((sum, one) => sum + one.total, 0);
  const missed = (): boolean => plan.everyPhase && all.some((one) => one.missed.length > 0);
  let backupsBeside = 0;
  for (let attempt = 0; total() < plan.kills || missed(); attempt += 1) {
    expect(attempt, `kills so far: ${all.map(String).join('; ')}`).toBeLessThan(
      plan.kills * MOST_ATTEMPTS + 40,
    );
    const kind: RekeyKind = chooseKind(random, phases, total() >= plan.kills);
    const { base, measured } = series.kinds[kind];
    const place = workspace.copy(base, 'victim');
    const before = listRepository(place.repository);
    const moment = momentFor(random, measured, phases[kind], before, place);
    const { killed } = await runAndKill(place, REKEY, moment);
    if (!killed) continue;
    const phase = phaseOf(kind, before, listRepository(place.repository));
    phases[kind].add(phase);
    const judge = judgeOf(total());
    await judge.expectClean(place, { warnings: true });
    if (total() % plan.thoroughEvery === 0) await expectAllRestore(series, place, judge);
    if (random.next() < 0.2) {
      // It does not have to wait until the lease of the dead rekey has run out.
      await succeedAgain(place, ['backup', series.source]);
      backupsBeside += 1;
    }
    await expectRekeyCompletes(series, place, judge);
    progress('rekey', total(), plan.kills, moment, `${kind}, ${phase}`);
  }
  return { phases, backupsBeside };
}

/** Three snapshots under generation 1, one of them forgotten; and the same once all is sealed anew and pruned. */
async function prepare(
  workspace: Workspace,
  { scale, sizes }: KillPlan,
  random: SeededRandom,
): Promise<Series> {
  const source = workspace.path('source');
  makeCorpus(source, scale, random);
  const base = await workspace.create('base', { ...sizes, graceSeconds: GRACE_SECONDS });
  const versions = new Map<string, string>();
  for (let version = 1; version <= 3; version += 1) {
    if (version > 1) changeCorpus(source, version, random);
    const copy = workspace.path(`version-${version}`);
    copyAside(source, copy);
    await succeed(base, ['backup', source]);
    const newest = (await byLibrary.snapshots(base)).at(-1);
    if (newest !== undefined) versions.set(newest.first, copy);
  }
  const [first] = versions.keys();
  if (first === undefined) throw new Error('no snapshot was made');
  await succeed(base, ['forget', first]);
  versions.delete(first);
  await succeed(base, ['keys', 'rotate']);
  await sleep(GRACE_SECONDS * 1_000 + 100);
  const rewritten = workspace.copy(base, 'rewritten');
  await succeed(rewritten, REKEY);
  await succeed(rewritten, PRUNE);
  const kinds = {
    rewriting: await measure(workspace, base),
    retiring: await measure(workspace, rewritten),
  };
  return { workspace, source, versions, kinds };
}

async function measure(workspace: Workspace, base: Place): Promise<Kind> {
  const calls = await countCalls(workspace.copy(base, 'counted'), REKEY);
  const { durationMs } = await succeed(workspace.copy(base, 'timed'), REKEY);
  return { base, measured: { durationMs, calls } };
}

function chooseKind(random: SeededRandom, phases: RekeyKills['phases'], onlyMissed: boolean): RekeyKind {
  const kinds: RekeyKind[] = ['rewriting', 'rewriting', 'retiring'];
  const left = onlyMissed ? kinds.filter((kind) => phases[kind].missed.length > 0) : kinds;
  return left[random.below(left.length)] ?? 'rewriting';
}

function momentFor(
  random: SeededRandom,
  measured: Measured,
  phases: Histogram<RekeyPhase>,
  before: Listing,
  place: Place,
): Moment {
  const missed = phases.missed[random.below(Math.max(1, phases.missed.length))];
  if (missed === undefined || random.next() < 0.5) return randomMoment(random, measured);
  const seen = (prefix: string): number => added(before, listRepository(place.repository), prefix).length;
  const when = (name: string, reached: () => boolean): Moment => ({ kind: 'event', name, reached });
  const late = (): Moment => ({ kind: 'call', number: measured.calls - random.below(16) });
  switch (missed) {
    case 'before any change':
      return { kind: 'call', number: 1 + random.below(12) };
    case 'dead packs marked':
      return when('at the first tombstone', () => seen('trash/') > 0);
    case 'new packs, old ones not marked':
      return { kind: 'call', number: 1 + random.below(Math.ceil(measured.calls / 2)) };
    case 'packs marked, no snapshot':
      return when('at the second tombstone', () => seen('trash/') > 1);
    case 'among snapshots':
      return when('at the first snapshot', () => seen('snapshots/') > 0);
    case 'after the configuration':
      return when('at the configuration', () => seen('config/') > 0);
    case 'records gone, no new ring':
      return { kind: 'call', number: Math.ceil(measured.calls * random.next()) };
    case 'new ring, old ones there':
      return random.next() < 0.5 ? when('at the new ring', () => seen('keys/') > 0) : late();
    case 'old rings gone':
      return late();
  }
}

function phaseOf(kind: RekeyKind, before: Listing, after: Listing): RekeyPhase {
  const count = (prefix: string): number => added(before, after, prefix).length;
  const has = (prefix: string): boolean => count(prefix) > 0;
  const gone = (prefix: string): boolean => added(after, before, prefix).length > 0;
  if (kind === 'retiring') {
    if (gone('keys/')) return 'old rings gone';
    if (has('keys/')) return 'new ring, old ones there';
    const changed = ['index/', 'trash/', 'heads/', 'config/'].some((prefix) => gone(prefix) || has(prefix));
    return changed ? 'records gone, no new ring' : 'before any change';
  }
  if (has('config/')) return 'after the configuration';
  if (has('snapshots/')) return 'among snapshots';
  // What nothing needs is marked before anything is copied.
  if (count('trash/') > 1) return 'packs marked, no snapshot';
  if (has('packs/')) return 'new packs, old ones not marked';
  return has('trash/') ? 'dead packs marked' : 'before any change';
}

/** Between two steps a snapshot may be there under its old id and its new one: both are whole then. */
async function expectAllRestore(
  { workspace, source, versions }: Series,
  place: Place,
  judge: Judge,
): Promise<void> {
  const snapshots = await judge.snapshots(place);
  expect(snapshots.map(({ first }) => first)).toEqual(expect.arrayContaining([...versions.keys()]));
  for (const { id, first } of snapshots) {
    const version = versions.get(first);
    if (version !== undefined) await judge.expectRestores(workspace, place, id, source, version);
  }
}

async function expectRekeyCompletes(series: Series, place: Place, judge: Judge): Promise<void> {
  expireLeases(place.repository);
  await succeedAgain(place, REKEY);
  expect(await generationsOf(place)).toContainEqual(
    expect.objectContaining({ state: 'current', generation: 2 }),
  );
  for (const use of await generationsOf(place))
    if (use['state'] === 'old') expect(use).toMatchObject({ packs: 0, snapshots: 0 });
  await succeedAgain(place, PRUNE);
  await succeedAgain(place, REKEY);
  expect(await generationsOf(place)).toMatchObject([{ generation: 2, state: 'current' }]);
  await expectNoOrphans(place, judge);
  const firsts = (await judge.snapshots(place)).map(({ first }) => first);
  expect(new Set(firsts).size).toBe(firsts.length);
  await expectAllRestore(series, place, judge);
}

async function generationsOf(place: Place): Promise<Record<string, unknown>[]> {
  return jsonLines(await succeedAgain(place, ['keys', 'generations', '--json']));
}
