/**
 * What the page shows beyond the Desktop API: protection status, all jobs, alarms, previews of restores, a search,
 * directories.
 */
import type { Agent, FileItem } from '../../jobs/agent.ts';
import type { RestorePreview as Preview } from '../../jobs/job.ts';
import { type ApiApp, listing, ListingOf, ListQuery } from '../framework/route.ts';
import { presentFile } from '../presentation/snapshot.ts';
import { timestamp } from '../presentation/values.ts';
import { readRequiredPath } from '../routes/request-values.ts';
import type { ResourceParts } from '../routes/resource-parts.ts';
import { Entries, EntriesQuery, SEARCH_FILTERS, SearchHit } from '../schemas/page/entries.ts';
import { type Alarm, Alarms, RestorePreview } from '../schemas/page/jobs.ts';
import { IdParams } from '../schemas/values.ts';
import { ApiError } from '../wire/api-error.ts';
import { pageJobRoutes } from './job-routes.ts';
import { archiveRoute } from './archive-route.ts';
import { type OverviewFacts, overviewRoutes } from './overview-routes.ts';

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
  archiveRoute(app, parts);
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
  }) => Promise<{
    readonly items: readonly {
      readonly item: FileItem;
      /** What has become of it in the newest snapshot. */
      readonly since: 'deleted' | 'changed' | null;
    }[];
    readonly total: number;
  }>;
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
      return { items: items.map(({ item, since }) => ({ ...presentFile(item), since })), total };
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
    readonly isGone: boolean;
    readonly limit: number;
    readonly after: string | undefined;
  }) => Promise<{
    readonly items: readonly { readonly item: FileItem; readonly isGone: boolean }[];
    readonly unreadable: number;
    readonly next: string | null;
  }>;
}

const LIMITS = { default: 100, maximum: 1000 };

function searchRoutes(app: ApiApp, { search }: SearchParts): void {
  app.get(
    '/search',
    {
      schema: { querystring: ListQuery(SEARCH_FILTERS, LIMITS), response: { 200: ListingOf(SearchHit) } },
      config: { scope: 'page' },
    },
    async ({ query: { limit, cursor, ...filters } }) => {
      if (filters.q === '' && filters.of === 'all')
        throw new ApiError('MISSING_FIELD', "The query parameter 'q' is missing", {
          hint: 'Give a part of the name.',
          details: { field: 'q' },
        });
      const found = await search({
        q: filters.q,
        source: filters.source,
        isGone: filters.of === 'deleted',
        limit,
        after: app.cursors.open('/search', filters, cursor),
      });
      const next = found.next === null ? null : app.cursors.seal('/search', filters, found.next);
      return listing(
        found.items.map(({ item, isGone }) => ({ ...presentFile(item), deleted: isGone })),
        { ...found, next },
      );
    },
  );
}

export interface OpenAlarm {
  readonly id: string;
  readonly kind: Alarm['kind'];
  /** Path of the source. */
  readonly source: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
  readonly facts: Readonly<Record<string, number | string>>;
  /** The last snapshot before the event; null or absent when there is none. */
  readonly before?: { readonly snapshot: string } | null;
}

interface PageAlarms {
  open(): readonly OpenAlarm[];
  /** Acknowledges all open alarms, and returns them. */
  acknowledge(): readonly OpenAlarm[];
}

/** Routes for alarms that nobody has acknowledged yet. */
function alarmRoutes(app: ApiApp, alarms: PageAlarms): void {
  app.get('/alarms', { schema: { response: { 200: Alarms } }, config: { scope: 'page' } }, async () =>
    shownAlarm(alarms.open()),
  );
  app.post(
    '/alarms/acknowledge',
    { schema: { response: { 200: Alarms } }, config: { scope: 'page' } },
    async () => shownAlarm(alarms.acknowledge()),
  );
}

function shownAlarm(alarms: readonly OpenAlarm[]): Alarms {
  return {
    items: alarms.map(({ id, kind, source, at, text, facts, before }) => ({
      id,
      kind,
      source,
      at: timestamp(at),
      text,
      facts: { ...facts },
      snapshot_before: before?.snapshot ?? null,
    })),
  };
}

interface RestorePreviewParts {
  readonly agent: Pick<Agent, 'job'>;
  /** The preview of a finished dry run, as long as it is kept. */
  readonly previewOf: (jobId: string) => Preview | undefined;
}

/** Shows the effect of a restore on existing files, from its dry run. */
function restorePreviewRoutes(app: ApiApp, { agent, previewOf }: RestorePreviewParts): void {
  app.get(
    '/restore-preview/:id',
    { schema: { params: IdParams, response: { 200: RestorePreview } }, config: { scope: 'page' } },
    async ({ params: { id } }) => {
      const job = agent.job(id);
      if (job === undefined || job.spec.type !== 'restore') {
        throw new ApiError('RESTORE_NOT_FOUND', 'There is no restore with this id', {
          hint: 'GET /restore lists the restores.',
        });
      }
      const preview = previewOf(id);
      if (preview !== undefined) return shownPreview(preview);
      if (!job.spec.options.dry_run) {
        throw new ApiError('NOT_FOUND', 'This restore was not a dry run, and only dry runs have a preview', {
          hint: 'Request the restore with the option dry_run first.',
        });
      }
      throw new ApiError('NOT_FOUND', `There is no preview of this restore: it is ${job.status}`, {
        hint: 'Wait until it has ended. Previews are only kept for a while: if this one is gone, do another dry run.',
        details: { status: job.status },
      });
    },
  );
}

function shownPreview(preview: Preview): RestorePreview {
  return {
    files_new: preview.filesNew,
    files_overwritten: preview.filesOverwritten,
    files_kept: preview.filesKept,
    files_unchanged: preview.filesUnchanged,
    files_deleted: preview.filesDeleted,
    bytes: preview.bytes,
    items: preview.items.map(({ path, what }) => ({ path, what })),
    is_cut: preview.isCut,
  };
}
