/** Which destinations are on the same disk as their sources, and which on the disk of the agent's state. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { treePath } from '../../base/tree-path.ts';
import type { Settings } from '../../config/settings.ts';
import type { SettingStore } from '../../db/settings.ts';
import { areOnSameDisk } from '../../system/disk-identity.ts';
import { farPlaceOf } from '../../system/far-mounts.ts';
import type { Destinations, Place } from './destinations.ts';

export type SameDisk = (a: string, b: string) => boolean | undefined;

export interface DiskSharingParts {
  readonly settings: () => Pick<Settings, 'sources'>;
  readonly destinations: Pick<Destinations, 'all' | 'isPresent' | 'repositoryId'>;
  readonly store: Pick<SettingStore, 'all' | 'get' | 'set'>;
  readonly stateDirectory: string;
  /** Overrides what the system says. */
  readonly sameDisk?: SameDisk | undefined;
}

interface Noted {
  readonly url: string;
  /** Whether the destination is on the disk of the agent's state. */
  readonly isOfSystem: boolean;
  /** Paths of sources on the same disk. */
  readonly sources: readonly string[];
}

interface Read extends Omit<Noted, 'sources'> {
  readonly text: string;
  readonly sources: ReadonlySet<string>;
}

const PREFIX = 'disk ';

/** Results are stored while a destination is there, and used while it is away. */
export class DiskSharing {
  readonly #parts: DiskSharingParts;
  readonly #known = new Map<string, Read>();

  constructor(parts: DiskSharingParts) {
    this.#parts = parts;
  }

  readonly sharesDisk = (destination: string, source: string): boolean =>
    this.#noted(destination)?.sources.has(source) ?? false;

  readonly isOfSystem = (destination: string): boolean => this.#noted(destination)?.isOfSystem ?? false;

  /** To be called periodically, and when the settings have changed. */
  look(): void {
    const { destinations, store } = this.#parts;
    const places = destinations.all();
    for (const place of places) {
      const found = this.#find(place);
      if (found !== undefined) store.set(`${PREFIX}${place.name}`, JSON.stringify(found));
    }
    const known = new Set(places.map(({ name }) => `${PREFIX}${name}`));
    for (const key of store.all().keys())
      if (key.startsWith(PREFIX) && !known.has(key)) store.set(key, undefined);
  }

  /** Undefined when it cannot be told at the moment. */
  #find(place: Place): Noted | undefined {
    const { settings, destinations, stateDirectory, sameDisk = areOnSameDisk } = this.#parts;
    const { directory, url, name } = place;
    if (directory === undefined || !destinations.isPresent(place) || isFar(directory)) return undefined;
    // The mount point may be there while the disk is not.
    if (destinations.repositoryId(place) !== undefined && !existsSync(join(directory, 'keys')))
      return undefined;
    const isShared = (other: string): boolean => !isFar(other) && sameDisk(directory, other) === true;
    const sources = settings().sources.filter((source) => source.destinations.includes(name));
    return {
      url,
      isOfSystem: isShared(stateDirectory),
      sources: [...new Set(sources.map(({ path }) => path))].filter(isShared),
    };
  }

  /** Cached, as a lookup is made for each source, and one text may list a thousand of them. */
  #read(destination: string, text: string): Read {
    const known = this.#known.get(destination);
    if (known?.text === text) return known;
    const { url, isOfSystem, sources } = JSON.parse(text) as Noted;
    const read = { text, url, isOfSystem, sources: new Set(sources) };
    this.#known.set(destination, read);
    return read;
  }

  #noted(destination: string): Read | undefined {
    const { store, destinations } = this.#parts;
    const text = store.get(`${PREFIX}${destination}`);
    if (text === undefined) return undefined;
    const noted = this.#read(destination, text);
    const place = destinations.all().find(({ name }) => name === destination);
    return noted.url === place?.url ? noted : undefined;
  }
}

/** A network file system may hang when it is asked, and is on no disk of this machine. */
function isFar(path: string): boolean {
  return farPlaceOf(treePath(path)) !== undefined;
}
