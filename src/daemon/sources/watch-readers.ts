/**
 * Names for the readers of watched changes. Each place, and each pass to several destinations, has a set of changes of
 * its own, which reaches back to its last backup.
 */
import type { Settings, SourceSettings } from '../../config/settings.ts';
import type { BackupSpec } from '../../jobs/job.ts';
import { placeOf, type Destinations, type Place } from '../places/destinations.ts';
import { sourceOf } from './configured-source.ts';

/** For a backup to one place. */
export function readerOfPlace({ url }: Pick<Place, 'url'>): string {
  return url;
}

/** For the same backup to several destinations. Its changes reach back to when a job of the last pass read the source. */
export function readerOfPass({ destinations }: Pick<SourceSettings, 'destinations'>): string {
  return `pass to ${JSON.stringify(destinations)}`;
}

/**
 * For the jobs that are begun together: a backup to one destination, or a pass. Undefined when the settings do not have
 * the place.
 */
export function readerOfDue(
  specs: readonly BackupSpec[],
  settings: Settings,
  destinations: Pick<Destinations, 'all' | 'find'>,
): string | undefined {
  const [first] = specs;
  if (first === undefined) return undefined;
  const source = specs.length > 1 ? sourceOf(settings, first) : undefined;
  if (source !== undefined) return readerOfPass(source);
  const place = placeOf(destinations, first.destination);
  return place && readerOfPlace(place);
}

/**
 * The readers of all backups of a source that the settings or a request may begin, which includes those to any
 * destination of the settings.
 */
export function readersOf(
  sources: readonly Pick<SourceSettings, 'destinations'>[],
  destinations: Pick<Destinations, 'all' | 'find'>,
): ReadonlySet<string> {
  const named = sources.flatMap((source) => source.destinations);
  const places = named.flatMap((name) => placeOf(destinations, name) ?? []);
  return new Set([...[...destinations.all(), ...places].map(readerOfPlace), ...sources.map(readerOfPass)]);
}
