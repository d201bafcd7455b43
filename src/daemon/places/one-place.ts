/** Destinations that are one place under several names: however many they are called, there is one copy in them. */
import { statSync } from 'node:fs';
import { bytesOfText } from '../../base/byte-path.ts';
import { RequestError } from '../../base/errors.ts';
import type { DestinationSettings } from '../../config/settings.ts';
import { parseLocation, placeUrl, type Location } from '../../destination/location.ts';
import { canonicalHost, isLoopback } from '../../destination/url-parts.ts';
import { farPlaceOf } from '../../system/far-mounts.ts';
import { whereItLeads } from '../../system/where-it-lies.ts';

export type NamedPlace = Pick<DestinationSettings, 'name' | 'url'>;

/** Of the repository that was seen at a destination; undefined where none was, and where nobody knows. */
export type SeenRepository = (name: string) => string | undefined;

/** Names of each place that has several, in the order of the settings. */
export function onePlaces(
  places: readonly NamedPlace[],
  repositoryOf: SeenRepository = () => undefined,
): readonly (readonly string[])[] {
  const groups: { readonly signs: Set<string>; readonly names: string[] }[] = [];
  for (const place of places) {
    const signs = new Set(signsOf(place));
    const id = repositoryOf(place.name);
    // What two places agree in is one repository: a copy of its files would be told apart by neither backups nor people.
    if (id !== undefined) signs.add(`repository ${id}`);
    const same = groups.filter((group) => [...signs].some((sign) => group.signs.has(sign)));
    const [first, ...others] = same;
    if (first === undefined) {
      groups.push({ signs, names: [place.name] });
      continue;
    }
    for (const sign of [...signs, ...others.flatMap((group) => [...group.signs])]) first.signs.add(sign);
    first.names.push(...others.flatMap(({ names }) => names), place.name);
    for (const other of others) groups.splice(groups.indexOf(other), 1);
  }
  const order = places.map(({ name }) => name);
  return groups
    .filter(({ names }) => names.length > 1)
    .map(({ names }) => names.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
}

/** What two places never have in common. None for a location that cannot be understood. */
function signsOf({ url }: NamedPlace): readonly string[] {
  try {
    const place = parseLocation(url);
    return [
      `place ${placeUrl(asLoopback(place))}`,
      ...(place.kind === 'local' ? onDisk(place.directory) : []),
    ];
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return [];
  }
}

/** This machine has several names for itself. */
function asLoopback(place: Location): Location {
  const local = (text: string | undefined): string | undefined => {
    const url = text === undefined ? null : URL.parse(text);
    if (url === null || !isLoopback(canonicalHost(url.hostname.replaceAll(/^\[|\]$/g, '')))) return text;
    url.hostname = 'localhost';
    return url.href.replace(/\/$/, '');
  };
  switch (place.kind) {
    case 'sftp':
      return isLoopback(canonicalHost(place.host)) ? { ...place, host: 'localhost' } : place;
    case 'webdav':
      return { ...place, url: local(place.url) ?? place.url };
    case 's3':
    case 'azblob':
    case 'gs':
      return { ...place, endpoint: local(place.endpoint) };
    case 'local':
    case 'rclone':
      return place;
  }
}

/** Through links, mounts of the same directory, and names that a file system takes for one. */
function onDisk(directory: string): readonly string[] {
  const lies = whereItLeads(directory);
  if (farPlaceOf(bytesOfText(lies)) !== undefined) return [`directory ${lies}`];
  const stats = statSync(lies, { bigint: true, throwIfNoEntry: false });
  const inode = stats === undefined || stats.ino === 0n ? [] : [`inode ${stats.dev} ${stats.ino}`];
  return [`directory ${lies}`, ...inode];
}

/** For people: what is said where the settings are read. */
export function onePlaceText(names: readonly string[]): string {
  const last = names.at(-1) ?? '';
  const listed = `${names.slice(0, -1).join(', ')} and ${last}`;
  return `${listed} are the same place: what is backed up to ${names.length === 2 ? 'both' : 'all of them'} is there once. Give each destination a place of its own, or keep one of them.`;
}
