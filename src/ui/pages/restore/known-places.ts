/** The places of backups, and the reason when a list of them is empty: backups must not seem lost that are only elsewhere. */
import type { Overview, OverviewDestination } from '../../../api/schemas/page/overview.ts';
import type { Snapshot } from '../../../api/schemas/snapshot.ts';
import type { Place } from './place.ts';

export interface KnownPlace {
  /** The name that snapshots have for it: a destination, or the URL of one that has left the settings. */
  readonly name: string;
  /** Its backups are listed but cannot be read at the moment. */
  readonly isAway: boolean;
  /** It is the embedded repository, while backups go elsewhere. */
  readonly isEarlier: boolean;
}

export function knownPlaces(
  destinations: readonly Pick<OverviewDestination, 'name' | 'reachable' | 'is_embedded' | 'is_default'>[],
  listed: readonly Pick<Snapshot, 'destination'>[],
  chosen: string | undefined,
): readonly KnownPlace[] {
  const known = destinations.map(({ name, reachable, is_embedded: isEmbedded, is_default: isDefault }) => ({
    name,
    isAway: reachable === false,
    isEarlier: isEmbedded && !isDefault,
  }));
  const names = [...listed.map(({ destination }) => destination), ...(chosen === undefined ? [] : [chosen])];
  const others = [...new Set(names)].filter((name) => known.every((one) => one.name !== name));
  return [...known, ...others.map((name) => ({ name, isAway: false, isEarlier: false }))];
}

/** `none_here`: none in the chosen place; `none_of_source`: none of the chosen source. There are others. */
export type EmptyReason = 'none_yet' | 'none_here' | 'none_of_source';

/** Why nothing is listed; undefined while that is unknown, or if something is. */
export function emptyReason(
  { source, destination }: Pick<Place, 'source' | 'destination'>,
  listed: { readonly isKnown: boolean; readonly count: number },
  { saved }: Pick<Overview, 'saved'>,
): EmptyReason | undefined {
  if (!listed.isKnown || listed.count > 0) return undefined;
  if (destination !== undefined) return 'none_here';
  return source === undefined && saved.snapshots === 0 ? 'none_yet' : 'none_of_source';
}
