/** What becomes of the sources between two runs. */
import { seededRandom } from '../support/seeded-random.ts';
import type { Machine } from './machine.ts';

/** Files that are the same on several machines. */
const SHARED = 12;

export class SourceChanges {
  readonly #pool: readonly Buffer[];

  constructor(seed: number) {
    const random = seededRandom(seed);
    this.#pool = Array.from({ length: SHARED }, () => random.bytes(2_000 + random.below(12_000)));
  }

  /** Files come, change, go, and cannot be read for a while; much of it other machines have as well. */
  change({ sources, chance }: Pick<Machine, 'sources' | 'chance'>): void {
    for (let n = 1 + chance.below(3); n > 0; n -= 1) {
      const path = `${sources.root}/${['', 'a/', 'a/b/', 'c/'][chance.below(4)]}file${chance.below(5)}`;
      const content = chance.next() < 0.8 ? this.#pool[chance.below(this.#pool.length)] : chance.bytes(3_000);
      if (chance.next() < 0.75 && content !== undefined) sources.write(path, content);
      else sources.remove(path);
    }
    const files = sources.files();
    for (const file of files) sources.setUnreadable(file, undefined);
    const file = files[chance.below(Math.max(1, files.length))];
    if (file !== undefined && chance.next() < 0.1) sources.setUnreadable(file, 'EACCES');
  }
}
