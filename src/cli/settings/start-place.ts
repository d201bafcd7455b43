/** Finds the destination for the sources given to `start`: one of the settings, or one that is to be added. */
import { basename } from 'node:path';
import { resolveTyped } from '../../base/typed-path.ts';
import { RequestError } from '../../base/errors.ts';
import {
  addSource,
  removeValue,
  setDestination,
  setValue,
  type ConfigChange,
} from '../../config/config-edit.ts';
import { findDestination } from '../../config/effective-settings.ts';
import { shownNames } from '../../config/embedded-repository.ts';
import type { Settings } from '../../config/settings.ts';
import { findPlace, parseLocation, placeUrl, withUser } from '../../destination/location.ts';

export interface StartPlace {
  readonly name: string;
  /** A path or a URL. */
  readonly url: string;
  /** Whether the settings have no destination at that place. */
  readonly isNew: boolean;
}

/**
 * What `--destination` names: a destination's name, or a path or a URL, which has a slash in it.
 * @throws {RequestError} INVALID_DESTINATION, SECRET_IN_URL
 */
export function startPlace(typed: string, settings: Settings): StartPlace {
  const named = findDestination(settings, typed);
  if (named !== undefined) return { ...named, isNew: false };
  // A mistyped name must not become a directory that nobody looks for.
  if (!/[/\\:]/.test(typed)) throw unknownName(typed, settings);
  const url = /^[a-z][a-z0-9+.-]+:/i.test(typed) ? typed : resolveTyped(typed);
  const wanted = placeUrl(parseLocation(url));
  const known = findPlace(wanted, settings.destinations, (one) =>
    placeUrl(withUser(parseLocation(one.url), one.access?.webdav?.user)),
  );
  return known === undefined
    ? { name: newName(url, settings), url, isNew: true }
    : { ...known, isNew: false };
}

function unknownName(typed: string, settings: Settings): RequestError {
  const names = shownNames(settings).join(', ');
  return new RequestError('INVALID_DESTINATION', `No destination is called "${typed}"`, {
    hint: `Destinations are: ${names}. For a directory, use a slash: ./${typed}`,
  });
}

/** Names that no destination may have, since they already mean something else. */
const TAKEN = ['default', 'cloud'];

/** A free name made from the last part of the path. */
function newName(url: string, { destinations }: Settings): string {
  const last = basename(url.replace(/[?#].*$/, ''))
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[^A-Za-z]+/, '')
    .slice(0, 50);
  const stem = last === '' ? 'destination' : last;
  const taken = new Set([...TAKEN, ...destinations.map(({ name }) => name)]);
  let name = stem;
  for (let again = 2; taken.has(name); again += 1) name = `${stem}-${again}`;
  return name;
}

/**
 * The changes of the settings that back these sources up to the place. A source that goes elsewhere already keeps those
 * destinations, so that its earlier backups stay up to date. Without a place, a known source is not changed.
 */
export function changesToBegin(
  paths: readonly string[],
  place: StartPlace | undefined,
  { sources }: Settings,
): readonly ConfigChange[] {
  const made = place?.isNew === true ? [setDestination(place.name, { url: place.url })] : [];
  const begun = paths.flatMap((path): readonly ConfigChange[] => {
    const known = sources.filter((source) => source.path === path);
    if (known.length === 0)
      return [addSource({ path, ...(place === undefined ? {} : { destination: place.name }) })];
    return place === undefined ? [] : alsoTo(path, [place.name], sources).changes;
  });
  return begun.length === 0 ? [] : [...made, ...begun];
}

export interface MoreDestinations {
  /** The destinations that the source did not have, each once. */
  readonly added: readonly string[];
  /** Empty when the source has all of them already. */
  readonly changes: readonly ConfigChange[];
}

/** The changes that add these destinations to a source, which keeps all others. */
export function alsoTo(
  path: string,
  names: readonly string[],
  sources: Settings['sources'],
): MoreDestinations {
  const known = sources.filter((source) => source.path === path);
  const added = [...new Set(names)].filter(
    (name) => !known.some(({ destinations }) => destinations.includes(name)),
  );
  const [first] = known;
  if (first === undefined || added.length === 0) return { added: [], changes: [] };
  const at = ['sources', sources.indexOf(first)];
  const changes = [
    setValue([...at, 'destinations'], [...first.destinations, ...added]),
    removeValue([...at, 'destination']),
  ];
  return { added, changes };
}
