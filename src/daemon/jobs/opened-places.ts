/**
 * The place that each running job has opened. The settings may have another place under the same name by the time the job ends.
 */
import type { Job } from '../../jobs/job.ts';
import type { Place } from '../places/destinations.ts';

export class OpenedPlaces {
  readonly #places = new Map<string, Place>();

  /** Sets the place for this attempt. The next attempt reads the settings again. */
  opens({ id }: Pick<Job, 'id'>, place: Place): void {
    this.#places.set(id, place);
  }

  of({ id }: Pick<Job, 'id'>): Place | undefined {
    return this.#places.get(id);
  }

  ended({ id }: Pick<Job, 'id'>): void {
    this.#places.delete(id);
  }
}
