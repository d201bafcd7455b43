/**
 * Where the destinations of the settings lie, and since when. What was done under the name of one while it lay elsewhere
 * says nothing about it: no backup of then is a backup there, and what was stored then is not stored there.
 */
import type { Clock } from '../../base/clock.ts';
import type { JobStore, NewestFilter } from '../../db/jobs.ts';
import type { SettingStore } from '../../db/settings.ts';
import { forgetProtectedSince } from './absence-watch.ts';
import type { Place } from '../places/destinations.ts';
import { formerSpelling } from '../places/remembered-at.ts';
import { carryStoredBytes, forgetStoredBytes } from '../places/stored-bytes.ts';

export class PlacedJobs {
  readonly #store: SettingStore;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(store: SettingStore, clock: Pick<Clock, 'now'>) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Notices which of them have moved, also while no agent ran. */
  follow(places: readonly Pick<Place, 'name' | 'url'>[]): void {
    const nowMs = this.#clock.now();
    for (const { name, url } of places) {
      const known = this.#known(name);
      // A time in the future was noted under a wrong clock.
      if (known?.url === url && known.since <= nowMs) continue;
      const hasMoved = known !== undefined && known.url !== url && known.url !== formerSpelling(url);
      const former = known === undefined ? this.#nameAt(url) : undefined;
      if (former !== undefined) carryStoredBytes(this.#store, former, name);
      // Of one that is seen for the first time everything counts: it may have been there before such notes were made.
      const since = hasMoved ? nowMs : Math.min(known?.since ?? 0, nowMs);
      this.#store.set(keyOf(name), JSON.stringify({ url, since }));
      if (!hasMoved) continue;
      forgetStoredBytes(this.#store, name);
      forgetProtectedSince(this.#store, name);
    }
  }

  /** Jobs, of which `newest` leaves out what was begun while the destination that is asked for lay elsewhere. */
  of(jobs: JobStore): JobStore {
    const newest = (filter: NewestFilter): ReturnType<JobStore['newest']> => {
      const since = filter.destination === undefined ? 0 : (this.#known(filter.destination)?.since ?? 0);
      return jobs.newest(since === 0 ? filter : { ...filter, begunSince: since });
    };
    return { ...jobs, newest };
  }

  /** Under which name the place was known: the repository in the state directory has another one while it is not the default. */
  #nameAt(url: string): string | undefined {
    for (const key of this.#store.all().keys()) {
      const name = key.startsWith(PREFIX) ? key.slice(PREFIX.length) : undefined;
      if (name !== undefined && this.#known(name)?.url === url) return name;
    }
    return undefined;
  }

  #known(name: string): { readonly url: string; readonly since: number } | undefined {
    const text = this.#store.get(keyOf(name));
    return text === undefined ? undefined : (JSON.parse(text) as { url: string; since: number });
  }
}

const PREFIX = 'place ';

function keyOf(name: string): string {
  return PREFIX + name;
}
