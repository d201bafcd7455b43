import type { ByteString } from '../../base/byte-path.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import { entryFailure } from '../target/entry-failure.ts';
import { type ExtraEntry, stayText } from './extra-entries.ts';
import type { RestoreTally } from '../request/tally.ts';
import { pathInVisit, pathOfVisit, type Visit } from './visit.ts';

interface Parts {
  readonly tally: RestoreTally;
  readonly find: (visit: Visit, name: ByteString) => EntryStat | undefined;
  /** Makes a directory writable, so that its entries can be removed. */
  readonly open: (visit: Visit) => void;
}

/** Collects the extra entries of the restore's directories as the walk goes through them. */
export class ExtraCollector {
  /** Entries to be removed. */
  readonly entries: ExtraEntry[] = [];
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Notes that an entry of the snapshot is not extra, whether it is restored or not. */
  claim(visit: Visit, name: ByteString): void {
    try {
      visit.extra?.claim(name, (one) => this.#parts.find(visit, one));
    } catch (error) {
      // a name that cannot be looked up matches no entry; if it is to be restored, the error is reported then
      entryFailure(error);
    }
  }

  /** To be called once all entries of the directory have been claimed. */
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
