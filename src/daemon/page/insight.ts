/** What the agent's own page shows in addition to the Desktop API. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { LastRun, OverviewFacts } from '../../api/page/overview-routes.ts';
import { KIT_SAVED } from './recovery-kit.ts';
import type { PageInsight } from '../../api/page/insight-routes.ts';
import type { Clock } from '../../base/clock.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { catalogGone } from '../../catalog/answers/merged-files.ts';
import { searchAll, type SearchedCatalog } from '../../catalog/answers/merged-search.ts';
import type { Settings } from '../../config/settings.ts';
import type { JobStore } from '../../db/jobs.ts';
import type { AgentState } from '../../jobs/open-state.ts';
import { isOver, type Pause } from '../../jobs/pause.ts';
import type { Alarms } from '../alarms/alarm-book.ts';
import { noSnapshots, type Catalogs } from '../snapshots/catalogs.ts';
import type { Destinations } from '../places/destinations.ts';
import { sourceNames } from '../sources/configured-source.ts';
import { freeSpace } from '../places/free-space.ts';
import { notOpenedByKit } from '../places/other-keys.ts';
import { storedOverTime } from '../places/stored-bytes.ts';

export interface PageInsightParts {
  readonly state: Pick<AgentState, 'database'>;
  readonly stateDirectory: string;
  readonly settings: () => Settings;
  readonly destinations: Destinations;
  readonly catalogs: Pick<Catalogs, 'holdings' | 'isCounted' | 'ask' | 'askOf' | 'repositoryIds'>;
  /** As from `PlacedJobs.of`: without backups from before a destination moved. */
  readonly jobs: JobStore;
  readonly alarms: Alarms;
  readonly pause: () => Pause | undefined;
  readonly uploadLimit: () => number | null;
  readonly clock: Clock;
}

/** Ended jobs that the overview shows. */
const RECENT_JOBS = 10;

export function pageInsight(parts: PageInsightParts): PageInsight {
  const { alarms, catalogs, state } = parts;
  return {
    overview: overviewFacts(parts),
    alarms,
    previewOf: (jobId) => state.database.previews.get(jobId),
    entries: async (request) => await catalogs.ask(async ({ catalog }) => await catalog.entries(request)),
    search: async (request) => await searchAll(searchedCatalogs(catalogs), request),
  };
}

function searchedCatalogs(catalogs: Pick<Catalogs, 'repositoryIds' | 'askOf'>): readonly SearchedCatalog[] {
  const asked = async <T>(repositoryId: string, question: (catalog: Catalog) => Promise<T>): Promise<T> => {
    const answer = await catalogs.askOf(repositoryId, async ({ catalog }) => await question(catalog));
    if (answer === undefined) throw catalogGone();
    return answer;
  };
  const ids = catalogs.repositoryIds;
  if (ids.length === 0) throw noSnapshots();
  return ids.map((repositoryId) => ({
    repositoryId,
    search: async (request) => await asked(repositoryId, async (catalog) => await catalog.search(request)),
    newestOf: async (paths, source) =>
      await asked(repositoryId, async (catalog) => await catalog.newestOf(paths, source)),
  }));
}

function overviewFacts(parts: PageInsightParts): OverviewFacts {
  const { destinations, settings, clock } = parts;
  const { database } = parts.state;
  const { jobs } = parts;
  const freeBytes = freeSpace(clock);
  const kit = join(parts.stateDirectory, 'recovery-kit.txt');
  return {
    newest: (source, destination) =>
      jobs.newest({ types: ['backup'], status: 'completed', good: true, source, destination }),
    history: (source, destination) => jobs.runs({ type: 'backup', source, destination }),
    recent: () => jobs.lastEnded(RECENT_JOBS),
    stored: (destination) => storedOverTime(database, destination),
    last: (type, destination): LastRun | null =>
      jobs.runs({ type, source: null, destination }).findLast(({ status }) => status !== 'canceled') ?? null,
    async freeBytes(name) {
      const place = destinations.all().find((one) => one.name === name);
      return place?.directory === undefined ? null : await freeBytes(place.directory);
    },
    defaultDestination: () => settings().defaultDestination,
    isOpenedByKit: (name) => !notOpenedByKit(settings()).includes(name),
    holdings: () => parts.catalogs.holdings,
    isCounted(name) {
      const place = destinations.all().find((one) => one.name === name);
      const repositoryId = place && destinations.repositoryId(place);
      return repositoryId !== undefined && parts.catalogs.isCounted(repositoryId);
    },
    alarms: () => parts.alarms.open().map(({ at }) => at),
    days: (count) => database.jobDays.last(count),
    names: (paths) => sourceNames(paths, homedir()),
    pause() {
      const pause = parts.pause();
      return pause === undefined || isOver(pause, clock.now()) ? undefined : pause;
    },
    recoveryKit() {
      if (existsSync(kit)) return 'unsaved';
      return database.settings.get(KIT_SAVED) === undefined ? 'none' : 'saved';
    },
    uploadLimit: parts.uploadLimit,
  };
}
