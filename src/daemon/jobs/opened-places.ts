/** Which place each job at work has opened: the settings may name another one under the same name by the time it ends. */
import type { Job } from '../../jobs/job.ts';
import type { Place } from '../places/destinations.ts';

export class OpenedPlaces {
  readonly #places = new Map<string, Place>();

  /** Of this attempt: the next one looks at the settings again. */
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
