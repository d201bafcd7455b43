/** Snapshots by the days they were made on, in the reader's time zone. */

export interface Day<Item> {
  /** Midnight, milliseconds since 1970. */
  readonly at: number;
  readonly items: readonly Item[];
}

/** In the order they come. */
export function byDay<Item extends { readonly created_at: string }>(
  items: readonly Item[],
): readonly Day<Item>[] {
  const days: { readonly at: number; readonly items: Item[] }[] = [];
  for (const item of items) {
    const at = midnight(new Date(item.created_at));
    const last = days.at(-1);
    if (last?.at === at) last.items.push(item);
    else days.push({ at, items: [item] });
  }
  return days;
}

/** 0 for today, 1 for yesterday. Days of 23 and of 25 hours count as days. */
export function daysBefore(at: number, nowMs: number): number {
  return Math.round((midnight(new Date(nowMs)) - at) / 86_400_000);
}

function midnight(time: Date): number {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime();
}
