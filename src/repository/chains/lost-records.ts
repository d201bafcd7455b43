/**
 * Finds records of chains that are gone from the storage although nobody removed them, and gives up those that are lost
 * for good.
 */
import { DestinationError } from '../../base/errors.ts';
import { isFull } from '../../base/stored-by.ts';
import { type ChainRecord, chainView } from '../chain-view.ts';
import { type Head, leaveCopiedIdentity, readAllHeads, readNewestHeads } from '../chain.ts';
import { isDamage } from '../chunk-index.ts';
import { putTombstone } from '../put-tombstone.ts';
import type { Repository } from '../repository.ts';
import { listSnapshots, readSnapshot, type SnapshotList } from '../snapshots.ts';
import { givenUpName, type LostRecord, lostRecords, verifyChains } from './verify-chains.ts';

export interface Lost {
  readonly record: LostRecord;
  /** The host of the writer's newest snapshot; undefined where there is none. */
  readonly host: string | undefined;
}

/** The records that two looks miss and that are not found by name either, since a list may lag behind. */
export async function findLost(repository: Repository, signal: AbortSignal): Promise<readonly Lost[]> {
  const before = await look(repository, signal);
  if (before.lost.length === 0) return [];
  const after = await look(repository, signal);
  const again = new Set(after.lost.map(({ record }) => placeText(record)));
  const lost: Lost[] = [];
  for (const one of before.lost) {
    const { name } = one.record;
    if (!again.has(placeText(one.record))) continue;
    const isThere =
      name !== undefined && !after.strange.has(name) && (await isStored(repository, name, signal));
    if (!isThere) lost.push(one);
  }
  return lost;
}

async function isStored({ destination }: Repository, name: string, signal: AbortSignal): Promise<boolean> {
  for (const key of [`snapshots/${name}`, `trash/${name}`]) {
    try {
      await destination.stat(key, signal);
      return true;
    } catch (error) {
      if (!(error instanceof DestinationError) || error.kind !== 'not-found') throw error;
    }
  }
  return false;
}

interface LookAtChains {
  readonly lost: readonly Lost[];
  /** Names of objects under `trash/` that never were records. */
  readonly strange: ReadonlySet<string>;
}

async function look(repository: Repository, signal: AbortSignal): Promise<LookAtChains> {
  repository.lookAnew();
  const heads = await readAllHeads(repository, signal);
  const snapshots = await listSnapshots(repository, signal);
  const forgotten = await readForgotten(repository, snapshots.forgotten, signal);
  const lost = lostRecords(chainView(repository, snapshots, forgotten, heads), repository.writer.memory);
  const hostOf = (writer: string): string | undefined =>
    snapshots.live.findLast(({ chain }) => chain.writer === writer)?.record.host;
  const { ignored } = snapshots.tombstones;
  return {
    lost: lost.map((record) => ({ record, host: hostOf(record.writer) })),
    strange: new Set(ignored.filter(({ isStrange }) => isStrange).map(({ name }) => name)),
  };
}

/** Forgotten snapshots that are still stored: they name the records before them. */
async function readForgotten(
  repository: Repository,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly ChainRecord[]> {
  const records: ChainRecord[] = [];
  for (const id of ids) {
    try {
      const { chain } = await readSnapshot(repository, id, signal);
      records.push({ name: id, chain });
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }
  return records;
}

/**
 * Declares these records removed, by a tombstone. Retention rules and prune can then continue; a record that comes back
 * is a forgotten one.
 */
export async function giveUpLost(
  repository: Repository,
  lost: readonly LostRecord[],
  signal: AbortSignal,
): Promise<void> {
  const { live } = await listSnapshots(repository, signal);
  await leaveCopiedIdentity(repository, live, signal);
  const { writer } = repository.writer.memory;
  const own = live.filter(({ chain }) => chain.writer === writer).length;
  const record = {
    kind: 'snapshots' as const,
    names: lost.map(givenUpName),
    places: lost.map(({ writer: of, seq, isUnplaced }) =>
      isUnplaced === true ? undefined : { writer: of, seq },
    ),
    reason: 'given up: gone from the storage',
    atMs: repository.clock.now(),
    fence: 0,
  };
  await putTombstone(repository, record, { live: own }, signal);
}

function placeText({ writer, seq }: LostRecord): string {
  return `${writer}/${seq}`;
}

/**
 * Whether snapshots have vanished from a repository whose list has none by full keys. If the destination's directory
 * was moved away, the list looks like that of a new repository, possibly with snapshots of write-only keys that go on
 * storing. The heads of writers, which are stored elsewhere, reveal it. A list that has snapshots by full keys is left
 * to check. The cost is one list and a request for each writer.
 */
export async function haveAllVanished(
  repository: Repository,
  list: SnapshotList,
  signal: AbortSignal,
): Promise<boolean> {
  if (hasFull(list)) return false;
  const heads = await readNewestHeads(repository, signal);
  if (!isAnyMissing(repository, list, heads)) return false;
  // A record that was stored after the list was made looks missing; a list that is made after the heads were read has it.
  const later = await listSnapshots(repository, signal);
  return !hasFull(later) && isAnyMissing(repository, later, heads);
}

function hasFull({ live }: SnapshotList): boolean {
  return live.some(({ storedBy }) => isFull(storedBy));
}

function isAnyMissing(repository: Repository, list: SnapshotList, heads: readonly Head[]): boolean {
  const view = chainView(repository, list, [], heads);
  return verifyChains(view, repository.writer.memory).some(({ kind }) => kind === 'missing');
}
