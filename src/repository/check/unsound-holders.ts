import type { IndexedPack } from '../../format/index-object.ts';
import type { ChunkIndex } from '../chunk-index.ts';
import type { SlotSet } from '../packs/slot-set.ts';

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
