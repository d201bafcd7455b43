import type { ByteString } from '../../base/byte-path.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import { entryFailure } from '../target/entry-failure.ts';
import type { ExtraEntry } from './extra-entries.ts';
import { stayText } from './stay-reason.ts';
import type { RestoreTally } from '../request/tally.ts';
import { pathInVisit, pathOfVisit, type Visit } from './visit.ts';

interface Parts {
  readonly tally: RestoreTally;
  readonly find: (visit: Visit, name: ByteString) => EntryStat | undefined;
  /** Sees to it that entries of a directory can be removed. */
  readonly open: (visit: Visit) => void;
}

/** Collects what is extra in the directories of a restore as the walk goes through them. */
export class ExtraCollector {
  /** To be removed. */
  readonly entries: ExtraEntry[] = [];
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** An entry of the snapshot is not extra, whether it is restored or not. */
  claim(visit: Visit, name: ByteString): void {
    try {
      visit.extra?.claim(name, (one) => this.#parts.find(visit, one));
    } catch (error) {
      // a name that cannot be looked for stands for nothing; when it is to be restored it is told of
      entryFailure(error);
    }
  }

  /** All entries of the directory have claimed what is theirs. */
  finish(visit: Visit): void {
    const { extra, selection, handle } = visit;
    if (extra === undefined) return;
    try {
      for (const name of extra.unclaimed(selection, (one) => this.#parts.find(visit, one))) {
        if (extra.stay === undefined) {
          this.#parts.open(visit);
          this.entries.push({ parent: handle, name, selection });
        } else
          this.#parts.tally.omissions.note('deletion', stayText(extra.stay), () => pathInVisit(visit, name));
      }
    } catch (error) {
      const { code, message } = entryFailure(error);
      this.#parts.tally.problem(pathOfVisit(visit), code, message);
    }
  }
}
