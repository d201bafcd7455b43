import type { IndexedPack } from '../../format/index-object.ts';
import type { ChunkIndex } from '../chunk-index.ts';
import type { SlotSet } from '../packs/slot-set.ts';

/**
 * Raw bytes that snapshots need and only packs with damage hold, by name, for each of these packs that holds them: nobody
 * knows which of them still gives what, and none may go before a sound pack has it.
 *
 * @param packs whose directories are known
 * @param unsound names of packs in which damage was found
 * @param index locates chunks in these packs only where no others hold them
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
