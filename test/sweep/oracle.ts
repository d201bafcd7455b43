/** What must hold after every fault, whatever it was. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { packKey } from '../../src/repository/objects/listing.ts';
import { readPackDirectory } from '../../src/repository/chunk-index.ts';
import { ID_BYTES } from '../../src/codec/hash.ts';
import { compareTrees, shownDifference } from '../support/compare-trees.ts';
import { removeTree } from '../support/remove-tree.ts';
import { describeFailure, jsonLines, run, succeed, type Place } from './program.ts';
import { succeedAgain } from './warm-program.ts';
import { ageFiles, expireLeases, listRepository, type Listing } from './stored-objects.ts';
import { openHere, type Workspace } from './workspace.ts';

const never = new AbortController().signal;
/** Temporary files of a destination are removed from a day on. */
const A_DAY_AND_MORE = 25 * 60 * 60_000;

/** How one looks at what stands after a fault. */
export interface Judge {
  /**
   * `check` reads everything and finds nothing wrong.
   * @param options.warnings what a kill leaves until the next run may be remarked upon
   */
  expectClean(place: Place, options?: CleanOptions): Promise<CleanReport>;
  /** The live snapshots, oldest first. */
  snapshots(place: Place): Promise<readonly ListedSnapshot[]>;
  /** The snapshot restores to exactly what `expected` holds, which is what stood at `source`. */
  expectRestores(
    workspace: Workspace,
    place: Place,
    snapshot: string,
    source: string,
    expected: string,
  ): Promise<void>;
}

export interface CleanOptions {
  readonly warnings: boolean;
}

export interface CleanReport {
  readonly findings: readonly { readonly severity: string; readonly what: string }[];
  readonly packsUnreferenced: number;
}

export interface ListedSnapshot {
  readonly id: string;
  /** The id that it had before anything was sealed anew. */
  readonly first: string;
}

/** By the commands that people use. */
export const byProgram: Judge = { expectClean, snapshots, expectRestores };

/** See {@link Judge}. */
export async function expectClean(
  place: Place,
  options: CleanOptions = { warnings: false },
): Promise<CleanReport> {
  const words = ['check', '--json', '--read-data'];
  const outcome = await run(place, words);
  expect(outcome.code, describeFailure(words, outcome)).toBe(0);
  const report = jsonLines(outcome).at(-1);
  if (report === undefined) throw new Error('check printed no report');
  expect(report['status']).toBe('ok');
  const findings = (report['findings'] as { severity: string; message: string }[]).map(
    ({ severity, message }) => ({ severity, what: message }),
  );
  expectHarmless(findings, options);
  return { findings, packsUnreferenced: Number(report['packs_unreferenced']) };
}

export function expectHarmless(findings: CleanReport['findings'], { warnings }: CleanOptions): void {
  const harmless = warnings ? ['note', 'warning'] : ['note'];
  expect(findings.filter(({ severity }) => !harmless.includes(severity))).toEqual([]);
}

async function snapshots(place: Place): Promise<readonly ListedSnapshot[]> {
  return jsonLines(await succeed(place, ['snapshots', '--json'])).map((line) => ({
    id: String(line['id']),
    first: String(line['original_id'] ?? line['id']),
  }));
}

/** Ids of the live snapshots, oldest first. */
export async function snapshotIds(place: Place, judge: Judge = byProgram): Promise<readonly string[]> {
  return (await judge.snapshots(place)).map(({ id }) => id);
}

/** See {@link Judge}. */
export async function expectRestores(
  workspace: Workspace,
  place: Place,
  snapshot: string,
  source: string,
  expected: string,
): Promise<void> {
  const target = workspace.fresh();
  try {
    await succeed(place, ['restore', snapshot, '--target', target]);
    expectSame(expected, join(target, source));
  } finally {
    removeTree(target);
  }
}

export function expectSame(expected: string, actual: string): void {
  const differences = compareTrees(expected, actual);
  expect(differences.slice(0, 10).map(shownDifference)).toEqual([]);
}

/** After a prune on a repository that nobody else uses nothing is left that no snapshot needs. */
export async function expectNoOrphans(place: Place, judge: Judge = byProgram): Promise<void> {
  expireLeases(place.repository);
  ageFiles(place.repository, A_DAY_AND_MORE, (name) => name.startsWith('.tmp-'));
  await succeedAgain(place, ['prune', '--grace', '0', '--no-other-writers']);
  expect(listRepository(place.repository).leftovers).toEqual([]);
  expect((await judge.expectClean(place)).packsUnreferenced).toBe(0);
}

/** How much of what already stood in finished packs was stored once more. */
export interface StoredAgain {
  /** Raw bytes of the chunks in the packs that the killed run finished. */
  readonly finishedBytes: number;
  /** Those of them that the next run put into new packs, and chunks that are in several new packs. */
  readonly againBytes: number;
}

/**
 * Compares by their directories the packs that stood before the killed run, those it finished, and those the next run
 * added.
 */
export async function measureStoredAgain(
  place: Place,
  before: Listing,
  killed: Listing,
  after: Listing,
): Promise<StoredAgain> {
  const repository = await openHere(place);
  const known = new Set<string>();
  let finishedBytes = 0;
  let againBytes = 0;
  try {
    const packs = [...after.objects.values()].filter(({ key }) => key.startsWith('packs/'));
    const rank = (key: string): number => (before.objects.has(key) ? 0 : killed.objects.has(key) ? 1 : 2);
    packs.sort((a, b) => rank(a.key) - rank(b.key));
    for (const { key, size } of packs) {
      const name = key.slice(key.lastIndexOf('/') + 1);
      expect(packKey(name)).toBe(key);
      const { directory } = await readPackDirectory(repository, name, size, never);
      for (const [i, length] of directory.lengths.entries()) {
        const id = directory.ids.toString('hex', i * ID_BYTES, (i + 1) * ID_BYTES);
        if (rank(key) === 1) finishedBytes += length;
        if (rank(key) > 0 && known.has(id)) againBytes += length;
        known.add(id);
      }
    }
  } finally {
    await repository.close();
  }
  return { finishedBytes, againBytes };
}
