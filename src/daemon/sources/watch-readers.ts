/**
 * By which names the changes in a watched source are taken: each place, and each pass to several of them, has sets of its own,
 * which reach back to what was backed up there.
 */
import type { Settings, SourceSettings } from '../../config/settings.ts';
import type { BackupSpec } from '../../jobs/job.ts';
import { placeOf, type Destinations, type Place } from '../places/destinations.ts';
import { sourceOf } from './configured-source.ts';

/** Of a backup to one place. */
export function readerOfPlace({ url }: Pick<Place, 'url'>): string {
  return url;
}

/** Of the same backup to several destinations: sets reach back to when a job of the last pass has read the source. */
export function readerOfPass({ destinations }: Pick<SourceSettings, 'destinations'>): string {
  return `pass to ${JSON.stringify(destinations)}`;
}

/** Of what is begun as one: a backup to one destination, or a pass. Undefined where the settings do not name the place. */
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

/** Of all backups of a source that the settings, or somebody, may begin: those to any place of the settings are among them. */
export function readersOf(
  sources: readonly Pick<SourceSettings, 'destinations'>[],
  destinations: Pick<Destinations, 'all' | 'find'>,
): ReadonlySet<string> {
  const named = sources.flatMap((source) => source.destinations);
  const places = named.flatMap((name) => placeOf(destinations, name) ?? []);
  return new Set([...[...destinations.all(), ...places].map(readerOfPlace), ...sources.map(readerOfPass)]);
}
