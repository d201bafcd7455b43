/** Finds destinations with several names for one place, as they hold only one copy. */
import { statSync } from 'node:fs';
import { treePath } from '../../base/tree-path.ts';
import { RequestError } from '../../base/errors.ts';
import type { DestinationSettings } from '../../config/settings.ts';
import { parseLocation, placeUrl, type Location } from '../../destination/location.ts';
import { canonicalHost, isLoopback } from '../../destination/url-parts.ts';
import { farPlaceOf } from '../../system/far-mounts.ts';
import { whereItLeads } from '../../system/where-it-lies.ts';

export type NamedPlace = Pick<DestinationSettings, 'name' | 'url'>;

/** Id of the repository that was seen at a destination; undefined when none was, or when that is unknown. */
export type SeenRepository = (name: string) => string | undefined;

/** The names of each place that has several, in the order of the settings. */
export function onePlaces(
  places: readonly NamedPlace[],
  repositoryOf: SeenRepository = () => undefined,
): readonly (readonly string[])[] {
  const groups: { readonly signs: Set<string>; readonly names: string[] }[] = [];
  for (const place of places) {
    const signs = new Set(signsOf(place));
    const id = repositoryOf(place.name);
    // The same id counts as the same place: nothing tells a repository from a copy of its files.
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

/** Properties that two different places never share. Empty for a location that cannot be parsed. */
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

/** Replaces all names of this machine by `localhost`. */
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

/** The real path and the inode, which see through symbolic links, bind mounts, and names that a file system treats as equal. */
function onDisk(directory: string): readonly string[] {
  const lies = whereItLeads(directory);
  if (farPlaceOf(treePath(lies)) !== undefined) return [`directory ${lies}`];
  const stats = statSync(lies, { bigint: true, throwIfNoEntry: false });
  const inode = stats === undefined || stats.ino === 0n ? [] : [`inode ${stats.dev} ${stats.ino}`];
  return [`directory ${lies}`, ...inode];
}

/** For people, when the settings are read. */
export function onePlaceText(names: readonly string[]): string {
  const last = names.at(-1) ?? '';
  const listed = `${names.slice(0, -1).join(', ')} and ${last}`;
  return `${listed} are the same place: what is backed up to ${names.length === 2 ? 'both' : 'all of them'} is there once. Give each destination a place of its own, or keep one of them.`;
}
