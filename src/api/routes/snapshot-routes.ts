import type { SnapshotPosition } from '../../jobs/agent.ts';
import { type ApiApp, listing, ListingOf, ListQuery, page, PageOf } from '../framework/route.ts';
import { presentChange, presentSnapshot } from '../presentation/snapshot.ts';
import {
  Deleted,
  DIFF_FILTERS,
  Snapshot,
  SNAPSHOT_FILTERS,
  SnapshotChange,
  SnapshotQuery,
} from '../schemas/snapshot.ts';
import { IdParams } from '../schemas/values.ts';
import { ApiError } from '../wire/api-error.ts';
import type { Cursors, Filters } from '../wire/cursor.ts';
import { jobDestination } from './named-destination.ts';
import { badField, readSource, readStoredBy } from './request-values.ts';
import type { ResourceParts } from './resource-parts.ts';

export function snapshotRoutes(app: ApiApp, { agent, settings }: ResourceParts): void {
  app.get(
    '/snapshots',
    {
      schema: { querystring: ListQuery(SNAPSHOT_FILTERS), response: { 200: PageOf(Snapshot) } },
      config: { scope: 'api' },
    },
    async ({ query: { limit, cursor, ...filters } }) => {
      const behind = openPosition(app.cursors, '/snapshots', filters, cursor);
      // One snapshot more than requested tells whether there is a next page.
      const found = await agent.snapshots({
        source: readSource(filters.source),
        storedBy: readStoredBy(filters.stored_by),
        ...(filters.destination === undefined
          ? {}
          : { destination: jobDestination(filters.destination, 'backup', { agent, settings }) }),
        limit: limit + 1,
        behind,
      });
      const last = found.length > limit ? found[limit - 1] : undefined;
      return page(
        found.slice(0, limit).map(presentSnapshot),
        last === undefined ? null : sealPosition(app.cursors, '/snapshots', filters, last),
      );
    },
  );

  app.get(
    '/snapshots/:id',
    {
      schema: { params: IdParams, querystring: SnapshotQuery, response: { 200: Snapshot } },
      config: { scope: 'api' },
    },
    async ({ params: { id }, query }) => {
      const source = readSource(query.source);
      const storedBy = readStoredBy(query.stored_by);
      const [extra] = Object.keys(query);
      if (id !== 'latest' && extra !== undefined)
        throw badField(extra, 'cannot be combined with the id of a snapshot', 'Use it only with latest.');
      return presentSnapshot(
        source === undefined
          ? await agent.snapshot(id, storedBy)
          : await agent.newestOf(source, undefined, storedBy),
      );
    },
  );

  app.delete(
    '/snapshots/:id',
    {
      schema: { params: IdParams, response: { 200: Deleted } },
      config: { scope: 'api' },
    },
    async ({ params }) => {
      const { id } = await agent.snapshot(params.id);
      // `latest` may mean another snapshot by the time the request arrives.
      if (id !== params.id) {
        throw new ApiError('SNAPSHOT_NOT_FOUND', 'To forget a snapshot, give its full id', {
          hint: `The full id is ${id}.`,
        });
      }
      await agent.forgetSnapshot(id);
      return { id, deleted: true as const };
    },
  );

  app.get(
    '/snapshots/:id/diff',
    {
      schema: {
        params: IdParams,
        querystring: ListQuery(DIFF_FILTERS),
        response: { 200: ListingOf(SnapshotChange) },
      },
      config: { scope: 'api' },
    },
    async ({ params, query: { limit, cursor, ...query } }) => {
      const idOf = async (given: string): Promise<string> =>
        given === 'latest' ? (await agent.snapshot(given)).id : given;
      const id = await idOf(params.id);
      const base = query.base === undefined ? undefined : await idOf(query.base);
      // With the ids: `latest` may mean another snapshot when the next page is asked for.
      const filters = { id, base };
      const after = app.cursors.open('/snapshots/diff', filters, cursor);
      const found = await agent.diff(id, base, limit, after);
      const next = found.next === null ? null : app.cursors.seal('/snapshots/diff', filters, found.next);
      return listing(found.items.map(presentChange), { ...found, next });
    },
  );
}

/**
 * Cursors for lists that have one entry per snapshot. They contain the sort key and not only an id, so that a program
 * can delete the snapshots that it has listed and go on.
 */
export function sealPosition(
  cursors: Cursors,
  list: string,
  filters: Filters,
  { created_at: createdAt, id }: SnapshotPosition,
): string {
  return cursors.seal(list, filters, `${createdAt} ${id}`);
}

/** Undefined without a cursor. @throws {ApiError} INVALID_CURSOR */
export function openPosition(
  cursors: Cursors,
  list: string,
  filters: Filters,
  cursor: string | undefined,
): SnapshotPosition | undefined {
  const text = cursors.open(list, filters, cursor);
  if (text === undefined) return undefined;
  const [, createdAt, id] = /^(-?\d{1,16}) ([\x21-\x7e]+)$/.exec(text) ?? [];
  if (createdAt !== undefined && id !== undefined) return { created_at: Number(createdAt), id };
  throw new ApiError('INVALID_CURSOR', 'The cursor was made by an earlier version of this program', {
    hint: 'Start again without a cursor.',
  });
}
