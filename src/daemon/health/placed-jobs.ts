/**
 * Remembers where the destinations of the settings lie, and since when. Jobs under a destination's name from when it
 * lay elsewhere say nothing about its present place: their snapshots are not stored there.
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

  /** Notices destinations that have moved, also while no agent ran. */
  follow(places: readonly Pick<Place, 'name' | 'url'>[]): void {
    const nowMs = this.#clock.now();
    for (const { name, url } of places) {
      const known = this.#known(name);
      // A time in the future was stored while the clock was wrong.
      if (known?.url === url && known.since <= nowMs) continue;
      const hasMoved = known !== undefined && known.url !== url && known.url !== formerSpelling(url);
      const former = known === undefined ? this.#nameAt(url) : undefined;
      if (former !== undefined) carryStoredBytes(this.#store, former, name);
      // For a destination that is seen for the first time all jobs count: it may be older than these notes.
      const since = hasMoved ? nowMs : Math.min(known?.since ?? 0, nowMs);
      this.#store.set(keyOf(name), JSON.stringify({ url, since }));
      if (!hasMoved) continue;
      forgetStoredBytes(this.#store, name);
      forgetProtectedSince(this.#store, name);
    }
  }

  /** Wraps a job store, so that `newest` leaves out jobs that began while the requested destination lay elsewhere. */
  of(jobs: JobStore): JobStore {
    const newest = (filter: NewestFilter): ReturnType<JobStore['newest']> => {
      const since = filter.destination === undefined ? 0 : (this.#known(filter.destination)?.since ?? 0);
      return jobs.newest(since === 0 ? filter : { ...filter, begunSince: since });
    };
    return { ...jobs, newest };
  }

  /**
   * The former name of a place. The repository in the state directory has another name while it is not the default destination.
   */
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
