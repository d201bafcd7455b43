/** Marks damaged packs, so that nothing relies on them and their needed content is stored again. */
import { DestinationError, isAbort, RepositoryError } from '../../base/errors.ts';
import type { IndexedPack } from '../../format/index-object.ts';
import { type ChunkIndex, isDamage } from '../chunk-index.ts';
import { markPacks } from '../mark-packs.ts';
import { listNamed, packKey } from '../objects/listing.ts';
import { sha256 } from '../objects/objects.ts';
import type { SlotSet } from '../packs/slot-set.ts';
import type { Repository } from '../repository.ts';
import { listSnapshots } from '../snapshots.ts';
import { openSession } from '../take-lease.ts';
import { DAMAGED, unsoundPacks } from '../tombstones.ts';
import { readObjectName } from './check-report.ts';

export interface DamageMarks {
  /** Names of the packs that are marked, by this call or earlier. */
  readonly marked: ReadonlySet<string>;
  /** Why the packs could not be marked: this host has no right to, or the destination accepts no writes. */
  readonly refusal: RepositoryError | DestinationError | undefined;
}

/**
 * Marks damaged packs. Writers then store again what they need of them, readers use them last, and prune deletes them
 * once no snapshot needs anything that no other pack holds. Marking a pack that turns out to be sound loses nothing.
 * Packs that are gone need no mark.
 */
export async function markDamaged(
  repository: Repository,
  names: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<DamageMarks> {
  try {
    return { marked: await mark(repository, names, signal), refusal: undefined };
  } catch (error) {
    const isRefusal = error instanceof RepositoryError || error instanceof DestinationError;
    if (!isRefusal || isAbort(error)) throw error;
    return { marked: new Set(), refusal: error };
  }
}

async function mark(
  repository: Repository,
  names: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  // On hosts that may only append, this throws with an explanation.
  repository.sign('hf1/tomb', Buffer.alloc(0));
  // A mark is never taken back, so a repository that was upgraded meanwhile is left to programs that can read it.
  await repository.followRing(signal);
  const listed = await listNamed(repository.destination, 'packs/', signal);
  const there = new Set([...names].filter((name) => listed.has(name)));
  const { live, tombstones } = await listSnapshots(repository, signal);
  const before = unsoundPacks(tombstones);
  const fresh = [...there].filter((name) => !before.has(name));
  if (fresh.length === 0) return there;
  // A session gives the storage's time. The right to prune is not needed, since a pack is damaged whoever prunes.
  await using session = await openSession(repository, {}, signal);
  const held = async (now: AbortSignal): Promise<void> => await session.assertHeld(now);
  const { writer } = repository.writer.memory;
  const own = live.filter(({ chain }) => chain.writer === writer).length;
  const record = { names: fresh, reason: DAMAGED, atMs: session.storageMs, fence: 0 };
  await markPacks(repository, record, { held, live: own }, signal);
  return there;
}

/** The pack that an error about damage concerns; undefined where the index has none. */
export function packOfError(error: unknown, index: ChunkIndex): string | undefined {
  if (!(error instanceof RepositoryError || error instanceof DestinationError)) return undefined;
  const { object, key } = error.details;
  const [, inKey] = /^packs\/[0-9a-f]{2}\/([0-9a-f]{64})$/.exec(String(key)) ?? [];
  const named = readObjectName(String(object));
  if (named?.kind !== 'tree') return inKey ?? (named?.kind === 'pack' ? named.name : undefined);
  const found = index.table.find(Buffer.from(named.name, 'hex'));
  return found && index.packs[found.pack]?.name;
}

/**
 * Whether a pack is damaged when it is read again: the first damage may have come from the connection.
 * @throws {DestinationError} when that cannot be determined
 */
export async function isDamagedPack(
  { destination }: Pick<Repository, 'destination'>,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return sha256(await destination.get(packKey(name), undefined, signal)) !== name;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return true;
  }
}

/**
 * For each damaged pack: how many raw bytes it holds that snapshots need and only damaged packs hold. Chunks that
 * several of these hold are counted for each, since it is unknown which of them can still be read, and none may be
 * deleted before a sound pack has them.
 *
 * @param packs packs whose directories are known
 * @param unsound names of packs in which damage was found
 * @param index locates chunks in damaged packs only where no others hold them
 * @param needed the chunks that snapshots need
 */
export function heldByUnsoundAlone(
  packs: Iterable<IndexedPack>,
  unsound: ReadonlySet<string>,
  { table, packs: known }: Pick<ChunkIndex, 'table' | 'packs'>,
  needed: SlotSet,
): ReadonlyMap<string, number> {
  const held = new Map<string, number>();
  if (unsound.size === 0) return held;
  for (const { name, directory } of packs) {
    if (!unsound.has(name)) continue;
    const { ids, idBytes } = directory;
    for (let at = 0; at < ids.length; at += idBytes) {
      const slot = table.slotOf(ids, at);
      if (slot < 0 || !needed.has(slot)) continue;
      const { pack, length } = table.locationAt(slot);
      if (unsound.has(known[pack]?.name ?? '')) held.set(name, (held.get(name) ?? 0) + length);
    }
  }
  return held;
}
