/** Checks from the last check, restore drill and prune of each destination. */
import type { JobStore, NewestFilter } from '../../db/jobs.ts';
import type { StatusCheck } from '../../jobs/agent.ts';
import { DAMAGE_CODES, type JobType } from '../../jobs/job.ts';
import type { Destinations } from '../places/destinations.ts';
import { lastEnded } from './good-backups.ts';

export interface MaintenanceParts {
  readonly jobs: Pick<JobStore, 'newest'>;
  readonly destinations: Pick<Destinations, 'all'>;
  readonly now: () => number;
}

type Maintenance = Extract<JobType, 'check' | 'drill' | 'prune'>;

/**
 * Errors about damage that a check or a drill found: backups that cannot be restored protect nobody. An error stays
 * until a later job of the same type completes; one that fails for another reason does not end it. Without names, as
 * anybody on the machine may read them.
 */
export function damageChecks(parts: MaintenanceParts): readonly StatusCheck[] {
  const damaged = damagedPlaces('check', parts).length;
  const unrestored = damagedPlaces('drill', parts).length;
  const checks: StatusCheck[] = [];
  if (damaged > 0)
    checks.push({
      name: 'damage',
      status: 'error',
      message:
        `The last check of ${places(damaged)} found damage, and some backups there may not be restorable. ` +
        'Check the drive, back up again, which stores missing data again, then run another check.',
    });
  if (unrestored > 0)
    checks.push({
      name: 'restore drills',
      status: 'error',
      message:
        `The last restore drill of ${places(unrestored)} failed: files could not be restored as they were saved. ` +
        'Run a check that reads all data and back up again, then run another drill.',
    });
  return checks;
}

/** Warnings about checks, drills and prunes that could not be done. Without names, as above. */
export function undoneChecks(parts: MaintenanceParts): readonly StatusCheck[] {
  const undone: readonly (readonly [name: string, of: Maintenance, so: string])[] = [
    ['checks not done', 'check', 'it is unknown whether the backups there are intact'],
    ['drills not done', 'drill', 'it is unknown whether the backups there can be restored'],
    ['prune', 'prune', 'old snapshots still take up space'],
  ];
  return undone.flatMap(([name, of, so]) => {
    const count = undonePlaces(of, parts).length;
    if (count === 0) return [];
    const what = of === 'drill' ? 'restore drill' : of;
    const message = `The last ${what} of ${places(count)} failed, so ${so}. The job says why; run another one then.`;
    return [{ name, status: 'warning', message } as const];
  });
}

export interface MaintenanceFindings {
  /** Names of destinations whose last job ended that way. */
  readonly damaged: readonly string[];
  readonly unrestored: readonly string[];
  readonly unchecked: readonly string[];
  readonly undrilled: readonly string[];
  readonly unpruned: readonly string[];
}

/** The same findings as the checks, with names. */
export function maintenanceFindings(parts: MaintenanceParts): MaintenanceFindings {
  return {
    damaged: damagedPlaces('check', parts),
    unrestored: damagedPlaces('drill', parts),
    unchecked: undonePlaces('check', parts),
    undrilled: undonePlaces('drill', parts),
    unpruned: undonePlaces('prune', parts),
  };
}

function damagedPlaces(type: Maintenance, { jobs, destinations, now }: MaintenanceParts): readonly string[] {
  return namesOf(destinations).filter(
    (destination) =>
      lastEnded(jobs, { ...asked(type, destination), failedBy: DAMAGE_CODES }, now())?.status === 'failed',
  );
}

/** A destination that is known to be damaged is left out, as that says more. */
function undonePlaces(type: Maintenance, parts: MaintenanceParts): readonly string[] {
  const { jobs, destinations, now } = parts;
  const damaged = type === 'prune' ? [] : damagedPlaces(type, parts);
  return namesOf(destinations).filter(
    (destination) =>
      !damaged.includes(destination) && lastEnded(jobs, asked(type, destination), now())?.status === 'failed',
  );
}

function asked(type: Maintenance, destination: string): NewestFilter {
  return { types: [type], destination };
}

function namesOf(destinations: MaintenanceParts['destinations']): readonly string[] {
  return destinations.all().map(({ name }) => name);
}

function places(count: number): string {
  return count === 1 ? 'one destination' : `${count} destinations`;
}
