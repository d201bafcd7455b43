/** Kills restores at any moment: no half file looks finished, and the same command completes what is missing. */
import { lstatSync, readdirSync, readFileSync, type BigIntStats } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'vitest';
import { UNFINISHED_FILE } from '../../src/restorer/target/target-directory.ts';
import { removeTree } from '../support/remove-tree.ts';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { changeCorpus, copyAside, makeCorpus } from './corpus.ts';
import type { KillPlan } from './kill-backup.ts';
import { expectSame, snapshotIds } from './oracle.ts';
import { Histogram, progress } from './phases.ts';
import { runAndKill, succeed, type Moment, type Place } from './program.ts';
import { succeedAgain } from './warm-program.ts';
import type { Workspace } from './workspace.ts';

export const RESTORE_PHASES = ['before the first file', 'among files', 'after the last file'] as const;
type RestorePhase = (typeof RESTORE_PHASES)[number];

/** Into nothing, or over an older version of the tree, whose files are changed in place. */
const KINDS = ['new', 'over'] as const;
type RestoreKind = (typeof KINDS)[number];

export interface RestoreKills {
  readonly phases: Readonly<Record<RestoreKind, Histogram<RestorePhase>>>;
  /** Files that a kill left unfinished under their own names, none of them looking finished. */
  readonly unfinished: number;
}

interface Series {
  readonly workspace: Workspace;
  readonly place: Place;
  readonly source: string;
  readonly old: { readonly id: string; readonly tree: string };
  readonly new: { readonly id: string; readonly tree: string };
  readonly durationMs: Readonly<Record<RestoreKind, number>>;
}

const MOST_ATTEMPTS = 6;

export async function sweepRestoreKills(workspace: Workspace, plan: KillPlan): Promise<RestoreKills> {
  const random = seededRandom(plan.seed);
  const series = await prepare(workspace, plan, random);
  const phases = {
    new: new Histogram<RestorePhase>(RESTORE_PHASES),
    over: new Histogram<RestorePhase>(RESTORE_PHASES.slice(1)),
  };
  const total = (): number => phases.new.total + phases.over.total;
  const missed = (kind: RestoreKind): boolean => plan.everyPhase && phases[kind].missed.length > 0;
  const durationMs = { ...series.durationMs };
  let unfinished = 0;
  for (let attempt = 0; total() < plan.kills || KINDS.some(missed); attempt += 1) {
    expect(attempt, `kills so far: ${phases.new.toString()}; ${phases.over.toString()}`).toBeLessThan(
      plan.kills * MOST_ATTEMPTS + 40,
    );
    const late = total() >= plan.kills;
    const kind: RestoreKind = (late ? missed('new') : random.next() < 0.5) ? 'new' : 'over';
    const target = workspace.fresh();
    if (kind === 'over') await succeedAgain(series.place, words(series.old.id, target));
    const before = kind === 'over' ? fileTimes(join(target, series.source)) : new Map<string, bigint>();
    const moment =
      late && random.next() < 0.5
        ? afterTheLastFile(series, target)
        : atAnyTime(durationMs[kind], late ? 0.7 : 0, late ? 1.3 : 1.02, random);
    const { killed, durationMs: tookMs } = await runAndKill(
      series.place,
      words(series.new.id, target),
      moment,
    );
    if (!killed) durationMs[kind] = tookMs;
    else {
      const found = judgeFiles(series, join(target, series.source), before);
      phases[kind].add(found.phase);
      unfinished += found.unfinished;
      await succeedAgain(series.place, words(series.new.id, target));
      expectSame(series.new.tree, join(target, series.source));
      progress(
        'restore',
        total(),
        plan.kills,
        moment,
        `${kind}, ${found.phase}, ${found.unfinished} unfinished`,
      );
    }
    removeTree(target);
  }
  return { phases, unfinished };
}

/** Other work may have come or gone since it was measured how long a restore takes. */
function atAnyTime(durationMs: number, least: number, most: number, random: SeededRandom): Moment {
  return { kind: 'time', afterMs: durationMs * (least + random.next() * (most - least)) };
}

/** Files are completed all together near the end: what comes after them is short, and has to be aimed at. */
function afterTheLastFile(series: Series, target: string): Moment {
  const files = filesOf(series.new.tree);
  let finished = 0;
  const isFinished = (path: string): boolean => {
    const is = lstatOf(join(target, series.source, path));
    return is !== undefined && looksFinished(is, lstatSync(join(series.new.tree, path), { bigint: true }));
  };
  const reached = (): boolean => {
    while (finished < files.length && isFinished(files[finished] ?? '')) finished += 1;
    return finished === files.length;
  };
  return { kind: 'event', name: 'when the last file is finished', reached };
}

function lstatOf(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

/** Permissions are what a restore sets last. */
function looksFinished(is: BigIntStats, should: BigIntStats): boolean {
  const isMarked = Number(is.mode & 0o7777n) === UNFINISHED_FILE && is.mode !== should.mode;
  return !isMarked && is.size === should.size && is.mtimeNs === should.mtimeNs;
}

async function prepare(
  workspace: Workspace,
  { scale, sizes }: KillPlan,
  random: SeededRandom,
): Promise<Series> {
  const source = workspace.path('source');
  makeCorpus(source, scale, random);
  const place = await workspace.create('restored', sizes);
  const trees = [workspace.path('version-1'), workspace.path('version-2')] as const;
  copyAside(source, trees[0]);
  await succeed(place, ['backup', source]);
  changeCorpus(source, 2, random);
  copyAside(source, trees[1]);
  await succeed(place, ['backup', source]);
  const [first = '', second = ''] = await snapshotIds(place);
  const series = {
    workspace,
    place,
    source,
    old: { id: first, tree: trees[0] },
    new: { id: second, tree: trees[1] },
  };
  const target = workspace.fresh();
  const fresh = await restore(series, first, target);
  const over = await restore(series, second, target);
  expectSame(trees[1], join(target, source));
  removeTree(target);
  return { ...series, durationMs: { new: fresh, over } };
}

/** What stands in the target goes when the snapshot does not have it, so that both can be compared. */
function words(id: string, target: string): readonly string[] {
  return ['restore', id, '--target', target, '--overwrite', 'if-changed', '--delete-extra'];
}

async function restore({ place }: Pick<Series, 'place'>, id: string, target: string): Promise<number> {
  return (await succeed(place, words(id, target))).durationMs;
}

function fileTimes(root: string): Map<string, bigint> {
  return new Map(filesOf(root).map((path) => [path, lstatSync(join(root, path), { bigint: true }).mtimeNs]));
}

function filesOf(root: string): string[] {
  if (lstatSync(root, { throwIfNoEntry: false }) === undefined) return [];
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

/**
 * A file that has the size and the modification time of the snapshot's version also has its content and its mode,
 * unless its mode says that it is unfinished.
 */
function judgeFiles(
  series: Series,
  actual: string,
  before: ReadonlyMap<string, bigint>,
): { phase: RestorePhase; unfinished: number } {
  const expected = series.new.tree;
  const all = filesOf(expected);
  let finished = 0;
  let fresh = 0;
  let unfinished = 0;
  for (const path of all) {
    const is = lstatOf(join(actual, path));
    if (is === undefined) continue;
    const should = lstatSync(join(expected, path), { bigint: true });
    if (looksFinished(is, should)) {
      expect(is.mode, path).toBe(should.mode);
      expect(readFileSync(join(actual, path)).equals(readFileSync(join(expected, path))), path).toBe(true);
      finished += 1;
      if (before.get(path) !== is.mtimeNs) fresh += 1;
    } else if (before.get(path) !== is.mtimeNs) {
      unfinished += 1;
    }
  }
  if (finished === all.length) return { phase: 'after the last file', unfinished };
  const started = fresh + unfinished > 0 || before.size > 0;
  return { phase: started ? 'among files' : 'before the first file', unfinished };
}
