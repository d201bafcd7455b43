/** What the settings say is to be done when, as entries of the scheduler; and the job that each of them asks for. */
import type { Settings, SourceSettings } from '../config/settings.ts';
import type { BackupSpec, JobSpec } from '../jobs/job.ts';
import type { ScheduleEntry } from '../schedule/scheduler.ts';
import { parseSchedule } from '../schedule/schedule.ts';

/** A whole walk each day finds what no watcher is told of: writes through memory maps, lost events. */
const WATCHED_AT_LEAST = 'daily';

export interface PlannedJob {
  readonly entry: ScheduleEntry;
  readonly spec: JobSpec;
  readonly fullWalk: boolean;
}

export function planOf(settings: Settings): readonly PlannedJob[] {
  const { maintenance, sources, destinations } = settings;
  const { jitterSeconds } = maintenance;
  const plan: PlannedJob[] = [];
  const add = (key: string, text: string, spec: JobSpec, fullWalk = false): void => {
    const schedule = parseSchedule(text);
    plan.push({ entry: { key, schedule, jitterSeconds }, spec, fullWalk });
  };
  for (const source of sources) {
    add(backupKey(source), source.schedule, backupOf(source));
    if (source.watch)
      add(`walk ${source.destination} ${source.path}`, WATCHED_AT_LEAST, backupOf(source), true);
  }
  for (const { name } of destinations) {
    add(`prune ${name}`, maintenance.prune, { type: 'prune', destination: name, apply_retention: true });
    add(`check ${name}`, maintenance.check, {
      type: 'check',
      destination: name,
      read_data: maintenance.checkReadData,
    });
    add(`drill ${name}`, maintenance.drill, {
      type: 'drill',
      destination: name,
      files: maintenance.drillFiles,
    });
  }
  return plan;
}

/** The same directory may go to several destinations, each in its own time. */
export function backupKey({ destination, path }: Pick<SourceSettings, 'destination' | 'path'>): string {
  return `backup ${destination} ${path}`;
}

export function backupOf(source: SourceSettings): BackupSpec {
  return {
    type: 'backup',
    source: source.path,
    destination: source.destination,
    options: {
      compression: source.compression,
      encryption: source.encryption,
      deduplication: source.deduplication,
      exclude: [],
      tags: source.tags,
      dry_run: false,
    },
  };
}
