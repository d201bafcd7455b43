/** A search over all snapshots: each path once, as it was last. `GET /files` searches one snapshot of each source. */
import type { FilePage } from '../../jobs/agent.ts';
import { presentFile } from '../presentation/file.ts';
import { type ApiApp, ListingOf, ListQuery, listing } from '../framework/route.ts';
import { File } from '../schemas/file.ts';
import { SEARCH_FILTERS } from '../schemas/page/search.ts';

export interface SearchParts {
  readonly search: (request: {
    readonly q: string;
    readonly source: string | undefined;
    readonly limit: number;
    readonly after: string | undefined;
  }) => Promise<FilePage>;
}

const LIMITS = { default: 100, maximum: 1000 };

export function searchRoutes(app: ApiApp, { search }: SearchParts): void {
  app.get(
    '/search',
    {
      schema: { querystring: ListQuery(SEARCH_FILTERS, LIMITS), response: { 200: ListingOf(File) } },
      config: { scope: 'page' },
    },
    async ({ query: { limit, cursor, ...filters } }) => {
      const found = await search({
        q: filters.q,
        source: filters.source,
        limit,
        after: app.cursors.open('/search', filters, cursor),
      });
      const next = found.next === null ? null : app.cursors.seal('/search', filters, found.next);
      return listing(found.items.map(presentFile), { ...found, next });
    },
  );
}
