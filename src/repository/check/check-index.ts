import { DestinationError } from '../../base/errors.ts';
import type { IndexedPack } from '../../format/index-object.ts';
import type { PackDirectory } from '../../format/pack.ts';
import { IdEnds } from './check-ids.ts';
import { disagreement, type PackIdentity } from './check-pack.ts';
import type { Findings } from './check-report.ts';
import {
  inOrderOfTrust,
  isDamage,
  readIndexObjects,
  readPackDirectory,
  type ChunkIndex,
} from '../chunk-index.ts';
import { believed } from '../contents/false-claims.ts';
import type { Listed } from '../objects/listing.ts';
import { mapParallel } from '../objects/parallel.ts';
import type { Repository } from '../repository.ts';
import type { LastPacks } from '../tombstones.ts';

/** The index as check needs it, including entries of index objects that do not match the stored packs. */
export interface CheckedIndex {
  readonly index: ChunkIndex;
  /** Filled while directories of packs, and trees, are read. */
  readonly ids: IdEnds;
  /** The entries of index objects in force for each usable pack, with the object's name. */
  readonly claims: ReadonlyMap<string, readonly { readonly object: string; readonly pack: IndexedPack }[]>;
  /** Packs that are gone or have another length, with an index object's entry for them. */
  readonly lost: ReadonlyMap<string, IndexedPack>;
  /** Packs that no index object names and that were removed after they were listed. */
  readonly gone: readonly string[];
}

/** Whether an object vanished after it was listed, which is not the same as being damaged. */
export function isGone(error: unknown): boolean {
  return error instanceof DestinationError && error.kind === 'not-found';
}

/** Key of a chunk in maps: the 16 bytes of its id that index objects keep. */
export function chunkKey(ids: Uint8Array, at = 0): string {
  return Buffer.from(ids.buffer, ids.byteOffset + at, 16).toString('latin1');
}

/**
 * Reads the index objects, compares them with the listed packs, and reads the directories of packs that none of them
 * names.
 * @param last packs marked for deletion, and damaged ones: a chunk is located there only when no other pack holds it
 * @param listPacks called after the index objects are read, so that the list shows every pack that they name
 */
export async function readIndexForCheck(
  repository: Repository,
  listPacks: () => Promise<ReadonlyMap<string, Listed>>,
  last: LastPacks,
  findings: Findings,
  signal: AbortSignal,
): Promise<CheckedIndex & { readonly listed: ReadonlyMap<string, Listed> }> {
  const damaged: { object: string; error: unknown }[] = [];
  const objects = await readIndexObjects(repository, damaged, signal);
  for (const { object, error } of damaged) {
    // Prune only removes an index object that another one has superseded.
    if (isGone(error)) continue;
    findings.addError(object, error);
  }
  const listed = await listPacks();
  const superseded = new Set([...objects.values()].flatMap((object) => object.supersedes));
  const claims = new Map<string, { object: string; pack: IndexedPack }[]>();
  const lost = new Map<string, IndexedPack>();
  for (const [object, { packs }] of objects) {
    if (superseded.has(object)) continue;
    for (const pack of packs) {
      if (listed.get(pack.name)?.size === pack.directory.packLength) {
        claims.set(pack.name, [...(claims.get(pack.name) ?? []), { object, pack }]);
      } else {
        lost.set(pack.name, pack);
      }
    }
  }
  reportLost(lost, listed, findings);
  const { uncovered, gone } = await readUncovered(repository, listed, claims, findings, signal);
  if (uncovered.length > 0) {
    findings.add(
      'note',
      'index/',
      `no index object names ${uncovered.length} packs; their own directories were read`,
    );
  }
  const usable = [
    ...[...claims.values()].flatMap(([first]) => (first === undefined ? [] : [first.pack])),
    ...uncovered,
  ];
  const indexNames = [...objects.keys()].filter((name) => !superseded.has(name));
  const facts = { leftOut: new Set<string>(), damaged, indexNames, uncovered, missing: [...lost.keys()] };
  const packs = inOrderOfTrust(usable, listed, { last });
  const index = await believed(repository, { packs, ...facts }, signal);
  const ids = new IdEnds(index);
  for (const { name, directory } of uncovered) ids.takeDirectory(name, directory);
  return { index, ids, claims, lost, gone, listed };
}

/** Reports lost packs. Whether a missing one matters is known once the trees are traversed; until then it is a warning. */
function reportLost(
  lost: ReadonlyMap<string, IndexedPack>,
  listed: ReadonlyMap<string, Listed>,
  findings: Findings,
): void {
  for (const [name, { directory }] of lost) {
    const size = listed.get(name)?.size;
    if (size === undefined) findings.add('warning', `pack ${name}`, 'it is missing');
    else
      findings.add(
        'error',
        `pack ${name}`,
        `it has ${size} bytes where the index says ${directory.packLength}`,
      );
  }
}

async function readUncovered(
  repository: Repository,
  listed: ReadonlyMap<string, Listed>,
  claims: CheckedIndex['claims'],
  findings: Findings,
  signal: AbortSignal,
): Promise<{ readonly uncovered: readonly IndexedPack[]; readonly gone: readonly string[] }> {
  const gone: string[] = [];
  const names = [...listed].filter(([name]) => !claims.has(name));
  const read = await mapParallel(
    names,
    repository.destination.properties.maxParallel,
    async ([name, { size }]) => {
      try {
        return await readPackDirectory(repository, name, size, signal);
      } catch (error) {
        if (!isDamage(error)) throw error;
        if (isGone(error)) gone.push(name);
        else findings.addError(`pack ${name}`, error);
        return undefined;
      }
    },
  );
  return { uncovered: read.filter((pack) => pack !== undefined), gone };
}

/** Compares the index objects' entries for a pack with its own directory; true when all agree. */
export function compareClaims(
  name: string,
  claims: CheckedIndex['claims'],
  self: PackIdentity,
  directory: PackDirectory,
  findings: Findings,
): boolean {
  let agree = true;
  for (const { object, pack } of claims.get(name) ?? []) {
    const difference = disagreement(pack, self, directory);
    if (difference === undefined) continue;
    agree = false;
    findings.add(
      'error',
      `index object ${object}`,
      `it gives pack ${name} ${difference} than the pack itself`,
    );
  }
  return agree;
}

/** The results of reading directories of packs. */
export interface DirectoryResults {
  /** Packs whose own directory differs from the index objects, as they describe themselves. */
  readonly differing: ReadonlyMap<string, IndexedPack>;
  /** Packs that were removed after they were listed. */
  readonly gone: readonly string[];
}

/** Reads the directories of packs and compares them with the index. */
export async function checkDirectories(
  repository: Repository,
  names: readonly string[],
  checked: CheckedIndex,
  findings: Findings,
  signal: AbortSignal,
): Promise<DirectoryResults> {
  const differing = new Map<string, IndexedPack>();
  const gone: string[] = [];
  await mapParallel(names, repository.destination.properties.maxParallel, async (name) => {
    const claimed = checked.claims.get(name)?.[0]?.pack;
    // A pack that no index object names has been read by its directory already.
    if (claimed === undefined) return;
    try {
      const own = await readPackDirectory(repository, name, claimed.directory.packLength, signal);
      checked.ids.takeDirectory(name, own.directory);
      if (!compareClaims(name, checked.claims, own, own.directory, findings)) differing.set(name, own);
    } catch (error) {
      if (!isDamage(error)) throw error;
      if (isGone(error)) gone.push(name);
      else findings.addError(`pack ${name}`, error);
    }
  });
  return { differing, gone };
}
