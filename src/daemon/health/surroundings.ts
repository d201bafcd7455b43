/** The facts of the status other than jobs and settings: disks, free space, and earlier notes. */
import { homedir } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import type { ConfigSource } from '../../config/config-source.ts';
import type { JobStore } from '../../db/jobs.ts';
import type { SettingStore } from '../../db/settings.ts';
import type { Job } from '../../jobs/job.ts';
import type { EngineOutcome } from '../../engine/protocol.ts';
import type { Alarms } from '../alarms/alarm-book.ts';
import { sourceOf } from '../sources/configured-source.ts';
import { onePlaces } from '../places/one-place.ts';
import type { Destinations } from '../places/destinations.ts';
import { DiskSharing, type SameDisk } from '../places/disk-sharing.ts';

import { forgetRemoved, untestedSince } from './standing-notes.ts';
import { StateRoom } from '../state/disk.ts';
import type { StatusParts } from './status.ts';
import { withAccepted } from './unread-files.ts';

export interface SurroundingsParts {
  readonly settings: () => ConfigSource['current'];
  readonly jobs: Pick<JobStore, 'get' | 'newest'>;
  readonly notes: SettingStore;
  readonly alarms: Pick<Alarms, 'follow' | 'open'>;
  readonly destinations: Destinations;
  readonly stateDirectory: string;
  readonly clock: Clock;
  /** Overrides what the system says. */
  readonly sameDisk?: SameDisk | undefined;
  readonly freeBytes?: ((directory: string) => Promise<number | null>) | undefined;
  readonly trouble: (error: unknown) => void;
}

export interface Surroundings {
  readonly facts: Pick<
    StatusParts,
    'home' | 'notes' | 'alarms' | 'scarceBytes' | 'sharesDisk' | 'onePlaces' | 'isOfSystem' | 'untestedSince'
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
  const room = new StateRoom(parts);
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
      sharesDisk: disks.sharesDisk,
      onePlaces: () => same,
      isOfSystem: disks.isOfSystem,
      untestedSince: (name) => untestedSince(name, { jobs, settings, notes }),
    },
    follow() {
      alarms.follow(settings().sources.map(({ path }) => path));
      forgetRemoved(notes, settings());
      disks.look();
      lookForOnePlaces();
      room.look();
    },
    look() {
      disks.look();
      lookForOnePlaces();
      room.look();
    },
    judged(jobId, outcome) {
      const job: Job | undefined = jobs.get(jobId);
      const source = job?.spec.type === 'backup' ? sourceOf(settings(), job.spec) : undefined;
      return source === undefined ? outcome : withAccepted(outcome, job?.problems ?? [], source);
    },
  };
}
