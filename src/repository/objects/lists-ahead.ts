import type { Destination, ListedObject } from '../../destination/destination.ts';

/** What a backup lists when it begins. */
const FIRST_LISTS = ['keys/', 'config/', 'trash/', 'snapshots/', 'index/'] as const;
/** Listed after the others, so that it shows the packs that listed index objects and snapshots name. */
const LAST_LIST = 'packs/';

/**
 * Lists that are under way or done, by prefix. Where each takes several round trips, all that a run will need are
 * requested at once. A failure is reported only to a caller that asks for that list.
 */
export type ListsAhead = ReadonlyMap<string, Promise<readonly ListedObject[]>>;

export function listAhead(destination: Destination, signal: AbortSignal): ListsAhead {
  const first = FIRST_LISTS.map((prefix) => [prefix, listWhole(destination, prefix, signal)] as const);
  const last = Promise.all(first.map(async ([, listing]) => await listing)).then(
    async () => await listWhole(destination, LAST_LIST, signal),
  );
  const all = new Map<string, Promise<readonly ListedObject[]>>([...first, [LAST_LIST, last]]);
  for (const listing of all.values()) listing.catch(() => undefined);
  return all;
}

async function listWhole(
  destination: Destination,
  prefix: string,
  signal: AbortSignal,
): Promise<readonly ListedObject[]> {
  const objects: ListedObject[] = [];
  for await (const page of destination.list(prefix, signal)) for (const one of page) objects.push(one);
  return objects;
}
