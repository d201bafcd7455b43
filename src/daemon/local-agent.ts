/** The agent of this machine, as HTTP, the local socket and the page ask it. */
import { asByteString } from '../base/byte-path.ts';
import { BugError, RequestError } from '../base/errors.ts';
import type { JobStore } from '../db/jobs.ts';
import type { JobLogStore } from '../db/job-log.ts';
import type { Settings } from '../config/settings.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Agent, FileContent, SnapshotSummary } from '../jobs/agent.ts';
import type { JobBook } from '../jobs/job-book.ts';
import type { BackupOptions, BackupSpec, Job } from '../jobs/job.ts';
import type { Runner } from '../jobs/runner.ts';
import type { Backups } from './backups.ts';
import type { Catalogs } from './catalogs.ts';
import type { Destinations, Place } from './destinations.ts';
import type { DrillRecords } from './drill-records.ts';
import type { RepositoryReading } from './reading-when-needed.ts';
import { checkSource } from './source-check.ts';
import { fullStatus, publicStatus, type StatusParts } from './status.ts';

export interface LocalAgentParts {
  readonly runner: Runner;
  readonly book: JobBook;
  readonly jobs: JobStore;
  readonly jobLog: JobLogStore;
  readonly settings: () => Settings;
  readonly stateDirectory: string;
  readonly destinations: Destinations;
  readonly catalogs: Catalogs;
  readonly reading: RepositoryReading;
  readonly status: StatusParts;
  readonly drills: DrillRecords;
  readonly backups: Backups;
}

const NOTHING_SAID: BackupOptions = {
  compression: 'zstd',
  encryption: true,
  deduplication: true,
  exclude: [],
  tags: [],
  dry_run: false,
};

export function createLocalAgent(parts: LocalAgentParts): Agent {
  const { runner, book, jobs, jobLog, settings, destinations, catalogs, reading, backups } = parts;
  const defaultPlace = (): Place => destinations.find('default');

  return {
    async requestBackup(request, trigger) {
      const options = { ...NOTHING_SAID, ...defined(request.options) };
      if (settings().requireEncryption && !options.encryption) {
        throw new RequestError('ENCRYPTION_REQUIRED', 'The settings allow encrypted backups only', {
          hint: 'Leave out "encryption", or change the setting requireEncryption.',
        });
      }
      const named = request.destination === undefined ? undefined : destinations.find(request.destination);
      const source = await checkSource(request.source, parts.stateDirectory);
      const wanted = named === undefined ? backups.destinationsOf(source, options.dry_run) : [named.name];
      const specs = wanted.map((name): BackupSpec => {
        return { type: 'backup', source, destination: destinations.find(name).name, options };
      });
      const [job] = backups.submit(specs, trigger);
      if (job === undefined) throw new BugError('A backup was asked for that goes nowhere');
      return job;
    },
    async submit(spec, trigger) {
      destinations.find(spec.destination);
      return await Promise.resolve(runner.submit(spec, trigger));
    },
    job: (id) => jobs.get(id),
    jobs: (request) => jobs.page(request),
    waitFor: async (id, ms, signal) => await book.waitFor(id, ms, signal),
    async cancel(id) {
      return await Promise.resolve(runner.cancel(id));
    },
    log: (id) => jobLog.list(id),
    pause: async (until, interrupt) => await runner.pause(until, interrupt),
    async resume() {
      runner.resume();
      await Promise.resolve();
    },
    events: (after, jobId, signal) => book.feed.listen(after, jobId, signal),

    publicStatus: () => publicStatus(parts.status),
    fullStatus: async () => await fullStatus(parts.status),

    async snapshots(request) {
      if (request.before !== undefined) {
        const page = await catalogs.ask(defaultPlace(), async (catalog) => await catalog.snapshots(request));
        return page.map((snapshot) => parts.drills.with(snapshot));
      }
      const pages = await catalogs.askAll(async (catalog) => await catalog.snapshots(request));
      return pages
        .flat()
        .sort((a, b) => b.created_at - a.created_at)
        .slice(0, request.limit)
        .map((snapshot) => parts.drills.with(snapshot));
    },
    snapshot: async (id) =>
      parts.drills.with(await catalogs.ask(defaultPlace(), async (catalog) => await named(catalog, id))),
    async forgetSnapshot(id) {
      const place = await catalogs.placeOf(id);
      await reading.forget(place, id);
      catalogs.update(place);
    },
    files: async (query) =>
      await catalogs.ask(placeOfQuery(query.backupId), async (catalog) => await catalog.files(query)),
    entry: async (snapshot, path) =>
      await catalogs.ask(defaultPlace(), async (catalog) => await catalog.entry(snapshot, path)),
    versions: async (path, source) =>
      await catalogs.ask(defaultPlace(), async (catalog) => await catalog.versions(path, source)),
    diff: async (id, base, limit, after) =>
      await catalogs.ask(defaultPlace(), async (catalog) => await catalog.diff({ id, base, limit, after })),
    async content(snapshot, path): Promise<FileContent> {
      const known = await catalogs.ask(defaultPlace(), async (catalog) => await named(catalog, snapshot));
      return await reading.content(await catalogs.placeOf(known.id), known.id, asByteString(path));
    },
  };

  /** A backup is looked for where it went first. */
  function placeOfQuery(backupId: string | undefined): Place {
    const job: Job | undefined = backupId === undefined ? undefined : jobs.get(backupId);
    return job === undefined ? defaultPlace() : destinations.find(job.spec.destination);
  }
}

async function named(catalog: Catalog, id: string): Promise<SnapshotSummary> {
  if (id !== 'latest') return await catalog.snapshot(id);
  const [newest] = await catalog.snapshots({ limit: 1 });
  if (newest === undefined) throw new RequestError('SNAPSHOT_NOT_FOUND', 'There are no snapshots yet');
  return newest;
}

function defined<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}
