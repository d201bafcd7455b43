/** Groups snapshots by the days on which they were made, in the reader's time zone. */
import { midnight } from '../../language/days.ts';

export interface Day<Item> {
  /** Midnight, milliseconds since 1970. */
  readonly at: number;
  readonly items: readonly Item[];
}

/** The days in the order of the items. */
export function byDay<Item extends { readonly created_at: string }>(
  items: readonly Item[],
): readonly Day<Item>[] {
  const days: { readonly at: number; readonly items: Item[] }[] = [];
  for (const item of items) {
    const at = midnight(new Date(item.created_at).getTime());
    const last = days.at(-1);
    if (last?.at === at) last.items.push(item);
    else days.push({ at, items: [item] });
  }
  return days;
}
