/** The plan of the settings: entries for the scheduler, and the job that each of them begins. */
import { systemZone } from '../../base/time-zone.ts';
import type { Settings, SourceSettings } from '../../config/settings.ts';
import type { SettingStore } from '../../db/settings.ts';
import type { BackupSpec, JobSpec } from '../../jobs/job.ts';
import type { ScheduleEntry } from '../../schedule/scheduler.ts';
import { parseSchedule } from '../../schedule/schedule.ts';

/**
 * A full walk each day finds changes that no watcher reports: files changed through a memory map or by a name outside of
 * the source, and lost events. It compares ctimes, which a memory map does not always change: see docs/reliability.md.
 */
const WATCHED_AT_LEAST = 'daily';

export interface PlannedJob {
  readonly entry: ScheduleEntry;
  /** A single job, or the same backup to several destinations. */
  readonly specs: readonly JobSpec[];
  readonly fullWalk: boolean;
}

export function planOf(settings: Settings): readonly PlannedJob[] {
  const { maintenance, sources, destinations } = settings;
  const { jitterSeconds } = maintenance;
  const plan: PlannedJob[] = [];
  const add = (key: string, text: string, specs: PlannedJob['specs'], fullWalk = false): void => {
    const schedule = parseSchedule(text);
    plan.push({ entry: { key, schedule, jitterSeconds }, specs, fullWalk });
  };
  for (const source of sources) {
    add(backupKey(source), source.schedule, backupsOf(source));
    if (source.watch)
      add(`walk ${firstOf(source)} ${source.path}`, WATCHED_AT_LEAST, backupsOf(source), true);
  }
  for (const { name } of destinations) {
    add(`prune ${name}`, maintenance.prune, [{ type: 'prune', destination: name, apply_retention: true }]);
    add(`check ${name}`, maintenance.check, [
      { type: 'check', destination: name, read_data: maintenance.checkReadData },
    ]);
    add(`drill ${name}`, maintenance.drill, [
      { type: 'drill', destination: name, files: maintenance.drillFiles },
    ]);
  }
  return plan;
}

/** The schedules that begin backups of the source. */
export function schedulesOf({ schedule, watch }: SourceSettings): readonly string[] {
  return watch ? [schedule, WATCHED_AT_LEAST] : [schedule];
}

/** When the next backup of the source is due after `sinceMs`; null when no schedule begins one. */
export function dueAfter(source: SourceSettings, sinceMs: number, zone: string): number | null {
  const times = schedulesOf(source).map((schedule) => parseSchedule(schedule).next(sinceMs, zone));
  const due = Math.min(...times.map((time) => time ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(due) ? due : null;
}

/** The time zone of schedules. */
export function zoneOf({ timeZone }: Pick<Settings, 'timeZone'>): string {
  return timeZone ?? systemZone();
}

/**
 * The scheduler's key for the backups of a source. The same directory may go to other destinations at other times, so
 * the first destination is part of the key. Adding further ones does not change it, so the source keeps its times.
 */
export function backupKey(source: Pick<SourceSettings, 'destinations' | 'path'>): string {
  return `backup ${firstOf(source)} ${source.path}`;
}

function firstOf({ destinations }: Pick<SourceSettings, 'destinations'>): string {
  return destinations[0] ?? '';
}

/** One backup for each destination. */
export function backupsOf(source: SourceSettings): readonly BackupSpec[] {
  const options = {
    compression: source.compression,
    encryption: source.encryption,
    deduplication: source.deduplication,
    exclude: [],
    tags: source.tags,
    dry_run: false,
  };
  return source.destinations.map((destination) => ({
    type: 'backup',
    source: source.path,
    destination,
    options,
  }));
}

/** The seed of this machine's random delays. It is stored, so that the delays stay the same. */
export function seedOf(settings: Pick<SettingStore, 'get' | 'set'>): string {
  const kept = settings.get('machine');
  if (kept !== undefined) return kept;
  const seed = crypto.randomUUID();
  settings.set('machine', seed);
  return seed;
}
