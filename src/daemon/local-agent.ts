/** The agent of this machine, as HTTP, the local socket and the page use it. */
import { hostname } from 'node:os';
import { BugError, RequestError } from '../base/errors.ts';
import type { Settings } from '../config/settings.ts';
import type { JobLogStore } from '../db/job-log.ts';
import type { JobStore } from '../db/jobs.ts';
import type { Agent } from '../jobs/agent.ts';
import type { JobBook } from '../jobs/job-book.ts';
import type { BackupSpec, Job } from '../jobs/job.ts';
import type { Runner } from '../jobs/runner.ts';
import { fullStatus, publicStatus, type StatusParts } from './health/status.ts';
import type { Backups } from './jobs/backups.ts';
import type { Destinations, Place } from './places/destinations.ts';
import { checkExcludes } from './settings-checks.ts';
import type { Catalogs } from './snapshots/catalogs.ts';
import type { DrillRecords } from './snapshots/drill-records.ts';
import { snapshotQuestions } from './snapshots/questions.ts';
import type { RepositoryReading } from './snapshots/reading-when-needed.ts';
import { configuredPath, sourceOf, storedAs } from './sources/configured-source.ts';
import { checkSource } from './sources/source-check.ts';

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

export function createLocalAgent(parts: LocalAgentParts): Agent {
  const { runner, book, jobs, jobLog, settings, destinations, backups } = parts;
  return {
    async requestBackup(request, trigger, also) {
      const named = request.destination === undefined ? undefined : destinations.find(request.destination);
      const { stateDirectory } = parts;
      const typed = await checkSource(request.source, { stateDirectory, stores: destinations.stores() });
      const source = configuredPath(settings(), typed);
      checkExcludes(request.options.exclude ?? [], source);
      const isDryRun = request.options.dry_run ?? false;
      const passes = named === undefined ? backups.destinationsOf(source, isDryRun) : [[named.name]];
      const specOf = (name: string): BackupSpec => {
        const destination = destinations.find(name).name;
        const usual = storedAs(sourceOf(settings(), { source, destination }));
        return { type: 'backup', source, destination, options: { ...usual, ...defined(request.options) } };
      };
      const specs = passes.map((names) => names.map(specOf));
      if (settings().requireEncryption && specs.flat().some(({ options }) => !options.encryption)) {
        throw new RequestError('ENCRYPTION_REQUIRED', 'The settings allow only encrypted backups', {
          hint: 'Leave out "encryption", or change the setting requireEncryption.',
        });
      }
      let first: Job | undefined;
      for (const [index, pass] of specs.entries()) {
        const isLast = index === specs.length - 1;
        const told = also === undefined || !isLast ? undefined : (made: Job) => also(first ?? made);
        const [made] = backups.submit(pass, trigger, told);
        first ??= made;
      }
      const job = first;
      if (job === undefined) throw new BugError('A backup was requested without a destination');
      return job;
    },
    destinationOf(nameOrUrl) {
      const place =
        nameOrUrl === undefined ? placeInUse(destinations, settings()) : destinations.find(nameOrUrl);
      if (!destinations.all().includes(place) && destinations.repositoryId(place) === undefined)
        throw new RequestError('INVALID_DESTINATION', `Nothing has been backed up to ${place.shown} yet`, {
          hint: 'Name a configured destination, or a place that has backups.',
        });
      return place.name;
    },
    async submit(spec, trigger, also) {
      destinations.find(spec.destination);
      return await Promise.resolve(runner.submit(spec, trigger, also));
    },
    job: (id) => jobs.get(id),
    jobs(request) {
      const found = jobs.page(request);
      const { source } = request;
      // The source may have been named in another way than its jobs name it, such as through a symbolic link.
      const named = found.length > 0 || source === undefined ? source : configuredPath(settings(), source);
      return named === source ? found : jobs.page({ ...request, source: named });
    },
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

    ...snapshotQuestions({ ...parts, host: hostname() }),
  };
}

function defined<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/**
 * Chooses the destination for a check or prune that names none. The default destination, unless it has no backups and
 * none are to go there: then the only destination that the settings send backups to. Checking an unused place would say
 * that all is well about backups that were never looked at.
 * @throws {RequestError} INVALID_DESTINATION when there are several such destinations
 */
function placeInUse(
  destinations: Pick<Destinations, 'standard' | 'find' | 'repositoryId'>,
  { sources }: Pick<Settings, 'sources'>,
): Place {
  const standard = destinations.standard();
  const names = [...new Set(sources.flatMap((source) => source.destinations))];
  const isUsed = names.includes(standard.name) || destinations.repositoryId(standard) !== undefined;
  const [only, ...others] = names;
  if (isUsed || only === undefined) return standard;
  if (others.length === 0) return destinations.find(only);
  throw new RequestError(
    'INVALID_DESTINATION',
    `No destination was named, and ${standard.shown}, the default one, has no backups`,
    { hint: `Name one that backups go to: ${names.join(', ')}.` },
  );
}
