import type { Destination, ListedObject } from '../../destination/destination.ts';

/** What a backup that begins lists. */
const FIRST_LISTS = ['keys/', 'config/', 'trash/', 'snapshots/', 'index/'] as const;
/** What an index object or a snapshot names is in a list of packs that is asked for after theirs. */
const LAST_LIST = 'packs/';

/**
 * Lists that are under way or done, by prefix: where each takes several round trips, those that a run will ask for go at
 * once. One that fails is nobody's error until somebody asks for it.
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
