/**
 * What the page shows beyond the Desktop API: protection status, all jobs, alarms, previews of restores, a search,
 * directories.
 */
import type { ResourceParts } from '../routes/resource-parts.ts';
import { type ApiApp, listing, ListingOf, ListQuery } from '../framework/route.ts';
import { alarmRoutes, type PageAlarms } from './alarm-routes.ts';
import { pageJobRoutes } from './job-routes.ts';
import { type OverviewFacts, overviewRoutes } from './overview-routes.ts';
import { type RestorePreviewParts, restorePreviewRoutes } from './restore-preview-routes.ts';
import type { FileItem, FilePage } from '../../jobs/agent.ts';
import { presentFile } from '../presentation/snapshot.ts';
import { readRequiredPath } from '../routes/request-values.ts';
import { Entries, EntriesQuery, SEARCH_FILTERS } from '../schemas/page/entries.ts';
import { File } from '../schemas/file.ts';

/** The parts of the agent that only the page uses. */
export interface PageInsight extends Pick<RestorePreviewParts, 'previewOf'>, SearchParts, EntriesParts {
  readonly overview: OverviewFacts;
  readonly alarms: PageAlarms;
}

export function insightRoutes(app: ApiApp, parts: ResourceParts, insight: PageInsight): void {
  overviewRoutes(app, { ...parts, facts: insight.overview });
  pageJobRoutes(app, parts);
  alarmRoutes(app, insight.alarms);
  restorePreviewRoutes(app, { ...parts, previewOf: insight.previewOf });
  searchRoutes(app, insight);
  entriesRoutes(app, insight);
}

/** Lists a directory of one snapshot from any offset of the sort order. `GET /files`, in contrast, pages with cursors. */
interface EntriesParts {
  readonly entries: (request: {
    readonly snapshot: string;
    /** Path bytes as Latin-1. */
    readonly path: string;
    readonly sort: 'name' | 'size' | 'modified';
    readonly offset: number;
    readonly limit: number;
  }) => Promise<{ readonly items: readonly FileItem[]; readonly total: number }>;
}

function entriesRoutes(app: ApiApp, { entries }: EntriesParts): void {
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

/**
 * Searches all snapshots: each path is found once, in its latest version. `GET /files` searches one snapshot of each
 * source.
 */
interface SearchParts {
  readonly search: (request: {
    readonly q: string;
    readonly source: string | undefined;
    readonly limit: number;
    readonly after: string | undefined;
  }) => Promise<FilePage>;
}

const LIMITS = { default: 100, maximum: 1000 };

function searchRoutes(app: ApiApp, { search }: SearchParts): void {
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
