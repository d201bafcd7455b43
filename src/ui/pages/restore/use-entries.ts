/** The entries of a directory of a snapshot. */
import type { File } from '../../../api/schemas/file.ts';
import type { Entries } from '../../../api/schemas/page/entries.ts';
import { ask, withQuery } from '../../agent/ask.ts';
import { type Pieces, usePieces } from '../../agent/use-pieces.ts';
import { keyOf, type PathRef, pathQuery } from './path-ref.ts';
import type { Sort } from './place.ts';

export interface DirectoryAsked {
  readonly snapshot: string;
  readonly directory: PathRef;
  readonly sort: Sort;
}

export function useEntries({ snapshot, directory, sort }: DirectoryAsked): Pieces<File> {
  return usePieces(`${snapshot} ${sort} ${keyOf(directory)}`, async ({ offset, limit, signal }) => {
    const query = { snapshot, sort, ...pathQuery(directory), offset, limit };
    return await ask<Entries>('GET', withQuery('/entries', query), { signal });
  });
}
