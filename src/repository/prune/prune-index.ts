import { corrupt } from '../../base/errors.ts';
import { encodeIndexedPack } from '../../format/index-object.ts';
import { readIndexObjects } from '../chunk-index.ts';
import { durableUncovered, IndexWriter } from '../contents/index-writer.ts';
import { listNamed } from '../objects/listing.ts';
import { PRUNE_LIMITS } from './prune-plan.ts';
import type { PruneStock } from './prune-stock.ts';
import type { Repository } from '../repository.ts';

export interface IndexRewrite {
  readonly written: readonly string[];
  /** Index objects that had been superseded before. */
  readonly superseded: readonly string[];
  /** Index objects that the new ones supersede. */
  readonly replaced: readonly string[];
}

/**
 * Replaces index objects that name doomed or missing packs, and small ones, and verifies that no other entry got lost.
 * Index objects are only a cache, but other hosts rely on them, so they are replaced before packs are deleted.
 *
 * @param doomed packs about to be deleted
 * @param alsoReplace key generations whose index objects are replaced as well
 * @throws {RepositoryError} CORRUPT_DATA when the new objects do not read back as intended
 */
export async function rewriteIndex(
  repository: Repository,
  doomed: ReadonlySet<string>,
  assertHeld: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
  alsoReplace: readonly number[] = [],
): Promise<IndexRewrite> {
  const { destination } = repository;
  const listed = await listNamed(destination, 'index/', signal);
  const damaged: { object: string; error: unknown }[] = [];
  const objects = await readIndexObjects(repository, damaged, signal);
  // Listed after the index objects, so that the list has every pack they name that still exists.
  const packs = await listNamed(destination, 'packs/', signal);
  const old = new Set([...objects.values()].flatMap(({ supersedes }) => supersedes));
  const inForce = [...objects].filter(([name]) => !old.has(name));
  const stays = (name: string): boolean => packs.has(name) && !doomed.has(name);
  const stale = inForce.filter(
    ([, { generation, packs: named }]) =>
      alsoReplace.includes(generation) || !named.every((pack) => stays(pack.name)),
  );
  const small = inForce.filter(([name]) => (listed.get(name)?.size ?? 0) < PRUNE_LIMITS.smallIndexBytes);
  // Small index objects are merged into those that are written anyway.
  const joining = stale.length > 0 || small.length >= PRUNE_LIMITS.mergeFrom ? small : [];
  const replaced = inForce.filter((one) => stale.includes(one) || joining.includes(one));
  const unreadable = [...listed.keys()].filter((name) => !objects.has(name));
  const superseded = [...listed.keys()].filter((name) => old.has(name));
  if (replaced.length === 0 && unreadable.length === 0) return { written: [], superseded, replaced: [] };
  const writer = new IndexWriter(repository);
  const expected = new Map<string, string>();
  for (const [, object] of replaced) {
    for (const pack of object.packs) {
      if (!stays(pack.name) || expected.has(pack.name)) continue;
      const entry = encodeIndexedPack(pack);
      expected.set(pack.name, entry.toString('latin1'));
      writer.add(entry);
    }
  }
  await assertHeld(signal);
  const replacedNames = [...replaced.map(([name]) => name), ...unreadable];
  // Includes the ones superseded earlier: once their successors are deleted, they must not come back into force.
  const written = await writer.flush([...new Set([...replacedNames, ...superseded])], signal);
  await requireSame(repository, written, expected, signal);
  return { written, superseded, replaced: replacedNames };
}

/**
 * Stores an index object for needed packs that none names: those of write-only keys, which write no index objects, and
 * those that snapshots need again after an earlier prune had left them out to delete them. Otherwise their directories
 * would be read again and again. Packs left by a run that died are not named: they are marked, or a backup takes them
 * over.
 *
 * @param leaving packs that are about to be deleted
 */
export async function indexUncovered(
  repository: Repository,
  { index, packs }: Pick<PruneStock, 'index' | 'packs'>,
  leaving: ReadonlySet<string>,
  assertHeld: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const uncovered = index.uncovered.filter(
    ({ name, sealedBy }) => sealedBy !== 0 || (packs.get(name)?.liveBytes ?? 0) > 0,
  );
  const writer = new IndexWriter(repository);
  for (const pack of await durableUncovered(repository, { uncovered }, leaving, signal))
    writer.add(encodeIndexedPack(pack));
  if (writer.pendingBytes === 0) return;
  await assertHeld(signal);
  await writer.flush([], signal);
}

/** Reads the new index objects back and compares their entries, as sets, with the old ones. */
async function requireSame(
  repository: Repository,
  written: readonly string[],
  expected: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const damaged: { object: string; error: unknown }[] = [];
  const objects = await readIndexObjects(repository, damaged, signal);
  const found = new Map<string, string>();
  for (const name of written) {
    for (const pack of objects.get(name)?.packs ?? [])
      found.set(pack.name, encodeIndexedPack(pack).toString('latin1'));
  }
  const same =
    found.size === expected.size && [...expected].every(([name, entry]) => found.get(name) === entry);
  if (!same) throw corrupt(`index object ${written[0]}`, 'it does not read back as it was written');
}
