/** The facts of the status other than jobs and settings: disks, free space, and earlier notes. */
import { homedir } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import type { ConfigSource } from '../../config/config-source.ts';
import type { Settings } from '../../config/settings.ts';
import type { JobStore } from '../../db/jobs.ts';
import type { SettingStore } from '../../db/settings.ts';
import type { EngineOutcome } from '../../engine/protocol.ts';
import type { Job } from '../../jobs/job.ts';
import type { Alarms } from '../alarms/alarm-book.ts';
import type { Destinations } from '../places/destinations.ts';
import { DiskSharing, type SameDisk } from '../places/disk-sharing.ts';
import { onePlaces } from '../places/one-place.ts';
import { sourceOf } from '../sources/configured-source.ts';
import type { StateRoom } from '../state/disk.ts';
import { protectedSince, sinceKey } from './absence-watch.ts';
import { goodKey } from './good-backups.ts';
import type { StatusParts } from './status.ts';
import { withAccepted } from './unread-files.ts';

export interface SurroundingsParts {
  readonly settings: () => ConfigSource['current'];
  readonly jobs: Pick<JobStore, 'get' | 'newest'>;
  readonly notes: SettingStore;
  readonly alarms: Pick<Alarms, 'follow' | 'open'>;
  readonly destinations: Destinations;
  /** The snapshots that are known. */
  readonly holdings: () => { readonly snapshots: number };
  readonly stateDirectory: string;
  readonly clock: Clock;
  readonly room: Pick<StateRoom, 'look' | 'measure' | 'scarceBytes'>;
  /** Overrides what the system says. */
  readonly sameDisk?: SameDisk | undefined;
  readonly trouble: (error: unknown) => void;
}

export interface Surroundings {
  readonly facts: Pick<
    StatusParts,
    | 'home'
    | 'notes'
    | 'alarms'
    | 'scarceBytes'
    | 'measure'
    | 'sharesDisk'
    | 'onePlaces'
    | 'isOfSystem'
    | 'untestedSince'
    | 'hasEarlier'
  >;
  /** To be called when settings come into force: drops notes about what they no longer have. */
  readonly follow: () => void;
  /** To be called periodically. */
  readonly look: () => void;
  /** The outcome of a job as people are to see it, where accepted problems are no warnings. */
  readonly judged: (jobId: string, outcome: EngineOutcome) => EngineOutcome;
}

export function surroundingsOf(parts: SurroundingsParts): Surroundings {
  const { settings, jobs, notes, alarms } = parts;
  const disks = new DiskSharing({ ...parts, store: notes });
  const { room } = parts;
  let same: readonly (readonly string[])[] = [];
  const lookForOnePlaces = (): void => {
    const { destinations } = parts;
    const places = destinations.all();
    const repositoryOf = (wanted: string): string | undefined => {
      const place = places.find(({ name }) => name === wanted);
      return place === undefined ? undefined : destinations.repositoryId(place);
    };
    same = onePlaces(settings().destinations, repositoryOf);
  };
  return {
    facts: {
      home: homedir(),
      notes,
      alarms: () => alarms.open(),
      scarceBytes: room.scarceBytes,
      measure: room.measure,
      sharesDisk: disks.sharesDisk,
      onePlaces: () => same,
      isOfSystem: disks.isOfSystem,
      untestedSince: (name) => untestedSince(name, { jobs, settings, notes }),
      hasEarlier: (source) =>
        parts.holdings().snapshots > 0 &&
        jobs.newest({ types: ['backup'], status: 'completed', good: true, source }) !== undefined,
    },
    follow() {
      alarms.follow(settings().sources.map(({ path }) => path));
      forgetRemoved(notes, settings());
      disks.look();
      lookForOnePlaces();
      void room.look();
    },
    look() {
      disks.look();
      lookForOnePlaces();
      void room.look();
    },
    judged(jobId, outcome) {
      const job: Job | undefined = jobs.get(jobId);
      const source = job?.spec.type === 'backup' ? sourceOf(settings(), job.spec) : undefined;
      return source === undefined ? outcome : withAccepted(outcome, job?.problems ?? [], source);
    },
  };
}

/** Removes the notes of other pairs, so that a source or destination that is added again begins anew. */
function forgetRemoved(
  store: Pick<SettingStore, 'all' | 'set'>,
  { sources }: Pick<Settings, 'sources'>,
): void {
  const pairs = sources.flatMap(({ path, destinations }) =>
    destinations.map((name) => [name, path] as const),
  );
  for (const keyOf of [sinceKey, goodKey]) {
    const kept = new Set(pairs.map(([destination, path]) => keyOf(destination, path)));
    const prefix = keyOf('', '').trimEnd();
    for (const key of store.all().keys())
      if (key.startsWith(`${prefix} `) && !kept.has(key)) store.set(key, undefined);
  }
}

/**
 * When a restore from the destination was last tried or, if never, since when sources are backed up to it; milliseconds
 * since 1970. Null when neither is known.
 */
function untestedSince(
  destination: string,
  {
    jobs,
    settings,
    notes,
  }: {
    readonly jobs: Pick<JobStore, 'newest'>;
    readonly settings: () => Pick<Settings, 'sources'>;
    readonly notes: Pick<SettingStore, 'get'>;
  },
): number | null {
  const newest = (type: 'drill' | 'restore'): number | null =>
    jobs.newest({ types: [type], destination, status: 'completed' })?.finished_at ?? null;
  const tried = [newest('drill'), newest('restore')].filter((at) => at !== null);
  if (tried.length > 0) return Math.max(...tried);
  const since = settings()
    .sources.filter(({ destinations }) => destinations.includes(destination))
    .flatMap(({ path }) => protectedSince(notes, destination, path) ?? []);
  return since.length === 0 ? null : Math.min(...since);
}
