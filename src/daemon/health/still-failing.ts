/**
 * Lists what is wrong on this machine when a backup has gone well. A monitor has one light for everything, so the
 * success of one source must not hide that another one fails.
 */
import type { Job } from '../../jobs/job.ts';
import type { Alarms } from '../alarms/alarm-book.ts';
import { maintenanceFindings, type MaintenanceParts } from './maintenance-checks.ts';
import { standingsOf, type StandingParts } from './standing.ts';

export interface StillFailingParts extends StandingParts, Pick<MaintenanceParts, 'destinations'> {
  readonly alarms: Pick<Alarms, 'open'>;
}

/** Sentences for people, the worst first. Empty unless the job is a backup that completed. */
export function stillFailing(
  { type, status }: Pick<Job, 'type' | 'status'>,
  parts: StillFailingParts,
): readonly string[] {
  if (type !== 'backup' || status !== 'completed' || parts.settings().notices.healthchecks === null)
    return [];
  const { damaged, unrestored } = maintenanceFindings(parts);
  return [
    ...damaged.map((name) => `The backups in ${name} are damaged.`),
    ...unrestored.map((name) => `The last restore drill of ${name} failed.`),
    ...parts.alarms.open().map(({ source }) => `An alarm for ${source} waits for an answer.`),
    ...standingsOf(parts).flatMap(({ source: { path }, destination, hasFailed, overdue }) =>
      hasFailed
        ? [`The last backup of ${path} to ${destination} failed.`]
        : overdue
          ? [`A backup of ${path} to ${destination} is overdue.`]
          : [],
    ),
  ];
}
