/** The entries of a directory of a snapshot. */
import { useRef } from 'preact/hooks';
import type { File, FileVersion } from '../../../api/schemas/file.ts';
import { ask, withQuery } from '../../agent/ask.ts';
import { useAsked } from '../../agent/use-asked.ts';
import { type FetchedPage, type Pages, usePages } from '../../agent/use-pages.ts';
import { keyOf, type PathRef, pathQuery } from './path-ref.ts';
import type { Sort } from './place.ts';

export interface DirectoryAsked {
  readonly snapshot: string;
  readonly directory: PathRef;
  readonly sort: Sort;
}

export interface Entries extends Pages<File> {
  /** Of all, those that were not fetched yet included. */
  readonly count: number;
}

/** Versions asked for to find how many entries a directory has: as many as one page of them may have. */
const VERSIONS = 100;

export function useEntries(asked: DirectoryAsked | undefined): Entries {
  const key = asked === undefined ? undefined : `${asked.snapshot} ${asked.sort} ${keyOf(asked.directory)}`;
  const pages = usePages(key, async ({ cursor, limit, signal }) => {
    const query = {
      view: 'tree',
      snapshot: asked?.snapshot,
      sort: asked?.sort,
      ...pathQuery(asked?.directory ?? { path: '/', path_b64: null }),
      limit,
      cursor,
    };
    return await ask<FetchedPage<File>>('GET', withQuery('/files', query), { signal });
  });
  const counts = useRef(new Map<string, number>());
  for (const item of pages.items)
    if (item.children_count !== null) counts.current.set(keyOf(item), item.children_count);
  const known = asked === undefined ? undefined : counts.current.get(keyOf(asked.directory));
  const isUnknown = pages.hasMore && known === undefined && asked !== undefined;
  const found = useAsked(
    async (signal) => (isUnknown ? await countOf(asked, signal) : undefined),
    [isUnknown ? key : ''],
  );
  const { hasMore, items } = pages;
  // Until it is known how many there are, one more tells that there are.
  const count = hasMore ? Math.max(known ?? found.data ?? 0, items.length + 1) : items.length;
  return { ...pages, count };
}

async function countOf({ snapshot, directory }: DirectoryAsked, signal: AbortSignal): Promise<number> {
  if (directory.path === '/') return 0;
  const query = { ...pathQuery(directory), limit: VERSIONS };
  const { items } = await ask<FetchedPage<FileVersion>>('GET', withQuery('/files/versions', query), {
    signal,
  });
  return items.find(({ snapshot_id: id }) => id === snapshot)?.children_count ?? 0;
}
