import { newestFirst, type FileItem, type SnapshotPosition } from '../../jobs/agent.ts';
import { contentRoutes } from './content-routes.ts';
import { presentFile, presentVersion } from '../presentation/snapshot.ts';
import {
  readEitherPath,
  readRequiredPath,
  readSnapshot,
  readSource,
  readStoredBy,
} from './request-values.ts';
import type { ResourceParts } from './resource-parts.ts';
import { type ApiApp, ListingOf, ListQuery, PageOf, listing, page } from '../framework/route.ts';
import { FILE_FILTERS, File, FileVersion, VERSION_FILTERS } from '../schemas/snapshot.ts';
import { openPosition, sealPosition } from './snapshot-routes.ts';

/** The list of files allows longer pages than other lists, because a person scrolls through it. */
const FILE_LIMITS = { default: 100, maximum: 1000 };

export function filesRoutes(app: ApiApp, parts: ResourceParts): void {
  const { agent } = parts;
  app.get(
    '/files',
    {
      schema: { querystring: ListQuery(FILE_FILTERS, FILE_LIMITS), response: { 200: ListingOf(File) } },
      config: { scope: 'api' },
    },
    async ({ query: { limit, cursor, ...filters } }) => {
      const found = await agent.files({
        snapshot: readSnapshot(filters.snapshot),
        backupId: filters.backup_id,
        source: readSource(filters.source),
        storedBy: readStoredBy(filters.stored_by),
        path: readEitherPath(filters),
        q: filters.q,
        type: filters.type,
        view: filters.view,
        sort: filters.sort,
        limit,
        after: app.cursors.open('/files', filters, cursor),
      });
      const next = found.next === null ? null : app.cursors.seal('/files', filters, found.next);
      return listing(found.items.map(presentFile), { ...found, next });
    },
  );

  app.get(
    '/files/versions',
    {
      schema: { querystring: ListQuery(VERSION_FILTERS), response: { 200: PageOf(FileVersion) } },
      config: { scope: 'api' },
    },
    async ({ query: { limit, cursor, ...filters } }) => {
      const after = openPosition(app.cursors, '/files/versions', filters, cursor);
      const versions = await agent.versions(
        readRequiredPath(filters),
        readSource(filters.source),
        readStoredBy(filters.stored_by),
      );
      const left = versions.filter(
        (version) => after === undefined || newestFirst(positionOf(version), after) > 0,
      );
      const items = left.slice(0, limit);
      const last = limit < left.length ? items.at(-1) : undefined;
      return page(
        items.map(presentVersion),
        last === undefined ? null : sealPosition(app.cursors, '/files/versions', filters, positionOf(last)),
      );
    },
  );

  contentRoutes(app, parts);
}

function positionOf({ backed_up_at: createdAt, snapshot_id: id }: FileItem): SnapshotPosition {
  return { created_at: createdAt, id };
}
