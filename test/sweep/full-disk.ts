/** Backups into a small file system in memory that fills up at different points. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { copyAside, makeCorpus, type CorpusScale } from './corpus.ts';
import { expectClean, expectNoOrphans, expectRestores, snapshotIds } from './oracle.ts';
import { describeFailure, run, runAndKill, succeed, type Place } from './program.ts';
import { added, listRepository, removeAll } from './stored-objects.ts';
import type { PackSizes, Workspace } from './workspace.ts';

export interface FullDiskPlan {
  readonly fills: number;
  readonly seed: number;
  readonly scale: CorpusScale;
  readonly sizes: PackSizes;
}

export interface FullDiskResult {
  readonly fills: number;
  /** How often what the run had stored when it ended was the last of its kind. */
  readonly reached: Readonly<Record<string, number>>;
}

const PAGE = 4_096;
/** More than any trial fills. */
export const PLENTY_PAGES = 131_072;
/** What comes after the packs fits into so many pages, also when a last small pack of trees has to be stored again. */
const RECORD_PAGES = 10;

/** Why the sweep cannot run here, or undefined. */
export function whyNoDisk(): string | undefined {
  if (process.platform !== 'linux') return 'a tmpfs is mounted, which needs Linux';
  if (process.getuid?.() !== 0) return 'a tmpfs is mounted, which needs root';
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-mount-'));
  try {
    mountDisk(directory);
    unmountDisk(directory);
    return undefined;
  } catch {
    return 'a tmpfs cannot be mounted here';
  } finally {
    rmdirSync(directory);
  }
}

export function mountDisk(directory: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${PLENTY_PAGES * PAGE}`, 'tmpfs', directory], {
    stdio: 'pipe',
  });
}

export function unmountDisk(directory: string): void {
  execFileSync('umount', [directory], { stdio: 'pipe' });
}

export function resizeDisk(directory: string, pages: number): void {
  execFileSync('mount', ['-o', `remount,size=${pages * PAGE}`, directory], { stdio: 'pipe' });
}

export function pagesUsed(directory: string): number {
  const { blocks, bfree, bsize } = statfsSync(directory);
  return ((blocks - bfree) * bsize) / PAGE;
}

/** Half of the fills strike among the packs, half at one of the first pages of the few records that come after them. */
export async function sweepFullDisks(workspace: Workspace, plan: FullDiskPlan): Promise<FullDiskResult> {
  const random = seededRandom(plan.seed);
  const source = workspace.path('source');
  makeCorpus(source, plan.scale, random);
  const version = workspace.path('version-1');
  copyAside(source, version);
  const disk = workspace.path('disk');
  const whole = await withDisk(workspace, disk, plan, async (place) => {
    const before = pagesUsed(disk);
    await succeed(place, ['backup', source]);
    return pagesUsed(disk) - before;
  });
  const reached: Record<string, number> = {};
  for (let i = 0; i < plan.fills; i += 1) {
    const amongPacks = i % 2 === 0;
    const free = amongPacks
      ? Math.floor((whole * 0.9 * (i + random.next())) / plan.fills)
      : ((i - 1) / 2) % RECORD_PAGES;
    const step = await withDisk(workspace, disk, plan, async (place) => {
      if (!amongPacks) await storePacksOnly(place, source);
      resizeDisk(disk, pagesUsed(disk) + free);
      const step = await expectNoSnapshot(place, source);
      resizeDisk(disk, PLENTY_PAGES);
      await expectCompletes(workspace, place, source, version);
      return step;
    });
    reached[step] = (reached[step] ?? 0) + 1;
    if (process.env['HOLDFAST_SWEEP'] !== undefined)
      process.stdout.write(
        `  full disk ${i + 1}/${plan.fills}: room for ${free} of ${whole} pages; ${step}\n`,
      );
  }
  return { fills: plan.fills, reached };
}

/** What a run leaves that is killed between its last pack and its index object: that tells that all packs are there. */
async function storePacksOnly(place: Place, source: string): Promise<void> {
  const { repository } = place;
  const stored = (prefix: string): string[] =>
    [...listRepository(repository).objects.keys()].filter((key) => key.startsWith(prefix));
  const remove = (...names: readonly string[]): void =>
    removeAll(...names.map((name) => join(repository, name)));
  const reached = (): boolean => stored('index/').length > 0;
  for (let attempt = 0; attempt < 20; attempt += 1) {
    await runAndKill(place, ['backup', source], { kind: 'event', name: 'at the index object', reached });
    if (reached() && stored('snapshots/').length === 0) {
      remove('index');
      return;
    }
    remove('packs', 'index', 'snapshots', 'heads', 'leases');
    // It may have come to its end: what the machine remembers of that is gone, too, or it would be missed.
    removeAll(join(place.state, 'repositories'));
  }
  throw new Error('no kill landed between the last pack and the snapshot');
}

/** A tmpfs with a new repository on it; the machine's own state lies elsewhere. */
async function withDisk<T>(
  workspace: Workspace,
  disk: string,
  { sizes }: FullDiskPlan,
  work: (place: Place) => Promise<T>,
): Promise<T> {
  mkdirSync(disk);
  mountDisk(disk);
  try {
    const place = { ...workspace.place('disk'), repository: join(disk, 'repository') };
    await workspace.createAt(place, sizes);
    return await work(place);
  } finally {
    unmountDisk(disk);
    rmdirSync(disk);
  }
}

/**
 * The run fails with one message that says why and leaves no snapshot; or, where there was just room enough, it made one
 * and says so. Returns how far it came.
 */
async function expectNoSnapshot(place: Place, source: string): Promise<string> {
  const words = ['backup', source];
  const before = listRepository(place.repository);
  const outcome = await run(place, words);
  const snapshots = await snapshotIds(place);
  const said = describeFailure(words, outcome);
  if (outcome.code === 0) {
    expect(snapshots, said).toHaveLength(1);
    return 'just fitted';
  }
  expect(outcome.code, said).toBe(1);
  expect(outcome.stderr).toMatch(/full|no space/i);
  expect(outcome.stderr.match(/^Error: /gm)).toHaveLength(1);
  expect(outcome.stderr).not.toMatch(/unexpected|defect/i);
  expect(snapshots, said).toEqual([]);
  const after = listRepository(place.repository);
  if (added(before, after, 'index/').length > 0) return 'full at the snapshot';
  if (added(before, after, 'packs/').length > 0) return 'full among packs';
  return 'full before anything was kept';
}

async function expectCompletes(
  workspace: Workspace,
  place: Place,
  source: string,
  version: string,
): Promise<void> {
  await succeed(place, ['backup', source]);
  await expectClean(place);
  for (const id of await snapshotIds(place)) await expectRestores(workspace, place, id, source, version);
  await expectNoOrphans(place);
}
