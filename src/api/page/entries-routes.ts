/** The entries of a directory of one snapshot, from any place of their order on. `GET /files` gives them one page after the other. */
import type { FileItem } from '../../jobs/agent.ts';
import { presentFile } from '../presentation/file.ts';
import { readRequiredPath } from '../routes/request-values.ts';
import type { ApiApp } from '../framework/route.ts';
import { Entries, EntriesQuery } from '../schemas/page/entries.ts';

export interface EntriesParts {
  readonly entries: (request: {
    readonly snapshot: string;
    /** Bytes as Latin-1. */
    readonly path: string;
    readonly sort: 'name' | 'size' | 'modified';
    readonly offset: number;
    readonly limit: number;
  }) => Promise<{ readonly items: readonly FileItem[]; readonly total: number }>;
}

export function entriesRoutes(app: ApiApp, { entries }: EntriesParts): void {
  app.get(
    '/entries',
    { schema: { querystring: EntriesQuery, response: { 200: Entries } }, config: { scope: 'page' } },
    async ({ query }) => {
      const { snapshot, sort, offset, limit } = query;
      const { items, total } = await entries({
        snapshot,
        path: readRequiredPath(query),
        sort,
        offset,
        limit,
      });
      return { items: items.map(presentFile), total };
    },
  );
}
