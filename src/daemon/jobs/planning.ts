/** What the settings say is to be done when, as entries of the scheduler; and the job that each of them asks for. */
import { systemZone } from '../../base/time-zone.ts';
import type { Settings, SourceSettings } from '../../config/settings.ts';
import type { SettingStore } from '../../db/settings.ts';
import type { BackupSpec, JobSpec } from '../../jobs/job.ts';
import type { ScheduleEntry } from '../../schedule/scheduler.ts';
import { parseSchedule } from '../../schedule/schedule.ts';

/**
 * A whole walk each day finds what no watcher is told of: files that changed through a memory map or by a name outside
 * of the source, lost events. It goes by ctimes, which a memory map does not always move: see docs/reliability.md.
 */
const WATCHED_AT_LEAST = 'daily';

export interface PlannedJob {
  readonly entry: ScheduleEntry;
  /** One, or the same backup to several destinations. */
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

/** By which its backups are begun. */
export function schedulesOf({ schedule, watch }: SourceSettings): readonly string[] {
  return watch ? [schedule, WATCHED_AT_LEAST] : [schedule];
}

/** When the next of its backups is due after a time; null for one that nothing begins by itself. */
export function dueAfter(source: SourceSettings, sinceMs: number, zone: string): number | null {
  const times = schedulesOf(source).map((schedule) => parseSchedule(schedule).next(sinceMs, zone));
  const due = Math.min(...times.map((time) => time ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(due) ? due : null;
}

/** The time zone that schedules are in. */
export function zoneOf({ timeZone }: Pick<Settings, 'timeZone'>): string {
  return timeZone ?? systemZone();
}

/**
 * The same directory may go to other destinations at other times. The first one names the source, so that its time
 * stays when others are added.
 */
export function backupKey(source: Pick<SourceSettings, 'destinations' | 'path'>): string {
  return `backup ${firstOf(source)} ${source.path}`;
}

function firstOf({ destinations }: Pick<SourceSettings, 'destinations'>): string {
  return destinations[0] ?? '';
}

/** One for each destination. */
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

/** Made once, so that the random delays of this machine are its own and stay as they are. */
export function seedOf(settings: Pick<SettingStore, 'get' | 'set'>): string {
  const kept = settings.get('machine');
  if (kept !== undefined) return kept;
  const seed = crypto.randomUUID();
  settings.set('machine', seed);
  return seed;
}
