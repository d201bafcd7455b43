/** Answers questions about snapshots and their files from all known repositories, as if they were one. */
import { pathIn } from '../../base/source-names.ts';
import { asNamed, leadsToOf, meantGroup, wherePathLeads } from './what-is-meant.ts';
import { asByteString } from '../../base/byte-path.ts';
import { RequestError } from '../../base/errors.ts';
import { FULL_KEYS, isFull, isStoredByAny, storedByText, storeKey } from '../../base/stored-by.ts';
import {
  type CatalogSnapshot,
  isMoment,
  originOf,
  type SnapshotChoice,
} from '../../catalog/answers/known-snapshots.ts';
import { catalogGone, type CatalogPage, mergePages, openCursor } from '../../catalog/answers/merged-files.ts';
import { storedByOf, versionsOf } from '../../catalog/answers/path-versions.ts';
import type { JobStore } from '../../db/jobs.ts';
import {
  type Agent,
  type FileContent,
  type FilePage,
  type FileQuery,
  newestFirst,
  type NewestRequest,
  type SnapshotRequest,
  type SnapshotSummary,
  type TarContent,
} from '../../jobs/agent.ts';
import { type Catalogs, type KnownCatalog, noSnapshots } from './catalogs.ts';
import { type Destinations, type Place, placeOf } from '../places/destinations.ts';
import type { DrillRecords } from './drill-records.ts';
import type { RepositoryReading } from './reading-when-needed.ts';

export interface SnapshotQuestionParts {
  /** The name of this machine, as in its snapshots. */
  readonly host: string;
  readonly jobs: Pick<JobStore, 'get'>;
  readonly destinations: Pick<Destinations, 'find' | 'isPresent'>;
  readonly catalogs: Pick<Catalogs, 'ask' | 'askAll' | 'askOf' | 'update'>;
  readonly reading: Pick<RepositoryReading, 'archive' | 'content' | 'forget'>;
  readonly drills: Pick<DrillRecords, 'with'>;
}

export type SnapshotQuestions = Pick<
  Agent,
  | 'snapshots'
  | 'snapshot'
  | 'newestOf'
  | 'pathIn'
  | 'snapshotOfBackup'
  | 'forgetSnapshot'
  | 'files'
  | 'entry'
  | 'versions'
  | 'diff'
  | 'content'
  | 'archive'
>;

/** A snapshot and its repository. */
interface Located {
  readonly repositoryId: string;
  readonly place: Place;
  readonly snapshot: CatalogSnapshot;
}

export function snapshotQuestions(parts: SnapshotQuestionParts): SnapshotQuestions {
  const { host, jobs, destinations, catalogs, reading, drills } = parts;

  const summaryOf = ({ snapshot, place }: Omit<Located, 'repositoryId'>): SnapshotSummary =>
    drills.with({ ...snapshot, destination: place.name });

  const snapshots = async (given: SnapshotRequest): Promise<readonly SnapshotSummary[]> => {
    const request = { ...given, leadsTo: leadsToOf(given) };
    const { destination: wanted = null } = request;
    const pages = await catalogs.askAll(async ({ catalog, place }) =>
      wanted !== null && place.name !== wanted
        ? []
        : (await catalog.snapshots(request)).map((snapshot) => ({ snapshot, place })),
    );
    return pages
      .flat()
      .sort((a, b) => newestFirst(a.snapshot, b.snapshot))
      .slice(0, request.limit)
      .map(summaryOf);
  };

  const locate = async (id: string): Promise<Located> =>
    await catalogs.ask(async (known) => located(known, await known.catalog.snapshot(id)));

  /**
   * Whether to prefer one of two snapshots: the newer one or, of copies with the same time, the one whose destination is there.
   */
  const isBetter = (one: Located, other: Located): boolean => {
    const ahead = one.snapshot.created_at - other.snapshot.created_at;
    if (ahead !== 0) return ahead > 0;
    return destinations.isPresent(one.place) && !destinations.isPresent(other.place);
  };

  const newestIn = async (request: NewestRequest): Promise<SnapshotSummary | undefined> => {
    const found = await catalogs.askAll(async (known) =>
      (await known.catalog.newest(request)).map((snapshot) => located(known, snapshot)),
    );
    let newest: Located | undefined;
    for (const one of meantGroup(found.flat(), ({ snapshot }) => snapshot.stored_by)) {
      if (newest === undefined || isBetter(one, newest)) newest = one;
    }
    return newest === undefined ? undefined : summaryOf(newest);
  };

  const newestOfAll = async (storedBy: readonly string[] | undefined): Promise<SnapshotSummary> => {
    const newest = await newestIn({ storedBy });
    if (newest === undefined) throw noSnapshots();
    return newest;
  };

  /** What a restore to the original places means by `latest`: files of another machine must be asked for. */
  const newestOfThis = async (storedBy: readonly string[] = OWN): Promise<SnapshotSummary> => {
    const own = await newestIn({ storedBy, host });
    if (own !== undefined) return own;
    throw noneOf(undefined, undefined, host, await newestOfAll(undefined));
  };

  /** The place that a backup went to, where its snapshot is searched first. */
  const placeOfBackup = (backupId: string): Place | undefined => {
    const job = jobs.get(backupId);
    return job === undefined ? undefined : placeOf(destinations, job.spec.destination);
  };

  /** Like `chooseSnapshots` of one catalog; the newest first. */
  const choose = async (choice: SnapshotChoice): Promise<readonly Located[]> => {
    const chosenOf = async (known: KnownCatalog): Promise<readonly Located[]> =>
      (await known.catalog.chosen(choice)).map((snapshot) => located(known, snapshot));
    const { backupId, snapshot } = choice;
    if (backupId !== undefined) return await catalogs.ask(chosenOf, placeOfBackup(backupId));
    if (!isMoment(snapshot)) return await catalogs.ask(chosenOf);
    const found = await catalogs.askAll(chosenOf);
    if (found.length === 0) throw noSnapshots();
    const chosen = new Map<string, Located>();
    for (const one of meantGroup(found.flat(), ({ snapshot: { stored_by: by } }) => by)) {
      const origin = originOf(one.snapshot);
      const other = chosen.get(origin);
      if (other === undefined || isBetter(one, other)) chosen.set(origin, one);
    }
    return lastMadeFirst([...chosen.values()]);
  };

  const firstPage = async (query: FileQuery): Promise<FilePage> => {
    const chosen = Map.groupBy(await choose(query), ({ repositoryId }) => repositoryId);
    let missing: unknown;
    const pages = await Promise.all(
      [...chosen].map(async ([repositoryId, ofIt]): Promise<readonly CatalogPage[]> => {
        try {
          const ids = ofIt.map(({ snapshot }) => snapshot.id);
          return [await pageOf(repositoryId, query, ids)];
        } catch (error) {
          if (!hasCode(error, 'PATH_NOT_IN_SNAPSHOT')) throw error;
          missing = error;
          return [];
        }
      }),
    );
    const found = pages.flat();
    if (found.length === 0 && missing !== undefined) throw missing;
    return mergePages(found, query);
  };

  const furtherPage = async (query: FileQuery, cursor: string): Promise<FilePage> => {
    const pages = openCursor(cursor, query).map(
      async ({ repositoryId, after }) => await pageOf(repositoryId, { ...query, after }, undefined),
    );
    return mergePages(await Promise.all(pages), query);
  };

  const pageOf = async (
    repositoryId: string,
    query: FileQuery,
    ids: readonly string[] | undefined,
  ): Promise<CatalogPage> => {
    const page = await catalogs.askOf(repositoryId, async ({ catalog }) => await catalog.files(query, ids));
    if (page === undefined) throw catalogGone();
    return { repositoryId, page };
  };

  return {
    snapshots,
    async snapshot(id, storedBy, isOwn = false) {
      if (id !== 'latest') return summaryOf(await locate(id));
      return isOwn ? await newestOfThis(storedBy) : await newestOfAll(storedBy);
    },
    pathIn: (snapshot, path) => pathIn(asNamed(snapshot), path, wherePathLeads(path)),
    async newestOf(source, until, storedBy = OWN) {
      const request = { source, until, leadsTo: leadsToOf({ source }) };
      const own = await newestIn({ ...request, host, storedBy });
      if (own !== undefined) return own;
      const others = async (by?: readonly string[]): Promise<SnapshotSummary | undefined> =>
        await newestIn({ ...request, storedBy: by });
      throw noneOf(source, until, host, (await others(storedBy)) ?? (await others()));
    },
    async snapshotOfBackup(backupId) {
      const made = async (known: KnownCatalog): Promise<Located> =>
        located(known, await known.catalog.snapshotOfBackup(backupId));
      try {
        return summaryOf(await catalogs.ask(made, placeOfBackup(backupId)));
      } catch (error) {
        const noted = jobs.get(backupId)?.snapshot_id ?? undefined;
        if (noted === undefined || !hasCode(error, 'BACKUP_NOT_FOUND')) throw error;
        // The snapshot is gone, or the tag that names its backup was removed.
        return summaryOf(await locate(noted));
      }
    },
    async forgetSnapshot(id) {
      const { place } = await locate(id);
      await reading.forget(place, id);
      catalogs.update(place);
    },
    async files(given) {
      const query = { ...given, leadsTo: leadsToOf(given) };
      return query.after === undefined ? await firstPage(query) : await furtherPage(query, query.after);
    },
    entry: async (snapshot, path) =>
      await catalogs.ask(async ({ catalog }) => await catalog.entry(snapshot, path, leadsToOf({ path }))),
    async versions(path, source, storedBy = []) {
      const leadsTo = leadsToOf({ path, source });
      const states = await catalogs.askAll(
        async ({ catalog }) => await catalog.states(path, source, leadsTo),
      );
      if (states.length === 0) throw noSnapshots();
      return versionsOf(states, path, (found) =>
        meantGroup(
          found.filter((one) => isStoredByAny(storedByOf(one), storedBy)),
          storedByOf,
        ),
      );
    },
    diff: async (id, base, limit, after) =>
      await catalogs.ask(async ({ catalog }) => await catalog.diff({ id, base, limit, after })),
    async content(snapshot, path, storedBy): Promise<FileContent> {
      const { place, snapshot: from } = isMoment(snapshot)
        ? await newestWith(snapshot, path, storedBy)
        : await locate(snapshot);
      const at = pathIn(asNamed(from), asByteString(path), wherePathLeads(asByteString(path)));
      return await reading.content(place, from.id, at);
    },
    async archive(snapshot, path): Promise<TarContent> {
      const { place, snapshot: from } = isMoment(snapshot)
        ? await newestWith(snapshot, path, undefined)
        : await locate(snapshot);
      const at = pathIn(asNamed(from), asByteString(path), wherePathLeads(asByteString(path)));
      return await reading.archive(place, from.id, at);
    },
  };

  /** The newest of the chosen snapshots that has the path. */
  async function newestWith(
    moment: string,
    path: string,
    storedBy: readonly string[] | undefined,
  ): Promise<Located> {
    let missing: unknown = noSnapshots();
    for (const one of await choose({ snapshot: moment, storedBy })) {
      try {
        await catalogs.askOf(
          one.repositoryId,
          async ({ catalog }) => await catalog.entry(one.snapshot.id, path, leadsToOf({ path })),
        );
        return one;
      } catch (error) {
        if (!hasCode(error, 'PATH_NOT_IN_SNAPSHOT')) throw error;
        missing = error;
      }
    }
    throw missing;
  }
}

/** The agent stores with full keys. */
const OWN = [storeKey(FULL_KEYS)];

function located({ repositoryId, place }: KnownCatalog, snapshot: CatalogSnapshot): Located {
  return { repositoryId, place, snapshot };
}

/** Within one repository in the order in which they were made, whatever the clock said; between repositories by time. */
function lastMadeFirst(found: readonly Located[]): readonly Located[] {
  const lists = [...Map.groupBy(found, ({ repositoryId }) => repositoryId).values()].map((list) =>
    list.toSorted((a, b) => b.snapshot.rank - a.snapshot.rank),
  );
  const ordered: Located[] = [];
  while (ordered.length < found.length) {
    const heads = lists.flatMap((list) => list.slice(0, 1));
    const [next] = heads.sort((a, b) => newestFirst(a.snapshot, b.snapshot));
    if (next === undefined) break;
    lists.find(([head]) => head === next)?.shift();
    ordered.push(next);
  }
  return ordered;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof RequestError && error.code === code;
}

/**
 * A snapshot of another machine is never used instead, even at the same path; the error names it, so that a person can
 * ask for it.
 */
function noneOf(
  source: string | undefined,
  until: number | undefined,
  host: string,
  others: SnapshotSummary | undefined,
): RequestError {
  const before = until === undefined ? '' : ' from before that time';
  const of = source === undefined ? '' : ` of ${source}`;
  if (others === undefined) {
    return new RequestError('SNAPSHOT_NOT_FOUND', `There is no snapshot${of}${before}`, {
      hint: 'GET /snapshots lists the snapshots.',
    });
  }
  const who = isFull(others.stored_by)
    ? others.host
    : `${storedByText(others.stored_by)}, in the name of ${others.host},`;
  return new RequestError(
    'SNAPSHOT_NOT_FOUND',
    `This machine (${host}) has no snapshot${of}${before}, but ${who} has`,
    {
      hint: `To restore what ${who} saved, give snapshot_id: ${others.id}.`,
      details: { host: others.host, snapshot: others.id, stored_by: storeKey(others.stored_by) },
    },
  );
}
