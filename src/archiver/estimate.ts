import type { ByteString } from '../base/byte-path.ts';
import { ctimesOf } from './before/ctime-trust.ts';
import type { FileToSave } from './read/file-saver.ts';
import type { ArchiveCounters, ArchiveObserver } from './report/observer.ts';
import { changesSince } from './before/change-set.ts';
import { findParent } from './before/parent.ts';
import { notedFiles } from './before/noted-files.ts';
import type { PendingEntry } from './store/pending-directory.ts';
import { arrangeSources } from './source/source-tree.ts';
import { SourceOutcomes } from './report/source-outcomes.ts';
import { looksUnchanged } from './before/source-entry.ts';
import { NOTHING_UPLOADED, Tally } from './report/tally.ts';
import { excluderMaker } from './walk/rule-files.ts';
import { walk } from './walk/walk.ts';
import { whatIsThere } from './before/what-is-there.ts';
import type { EntryStat } from '../system/entry-stat.ts';
import type { ArchiveRequest } from './archive-request.ts';

/** What a backup would do, from a walk alone: no file is opened and nothing is stored. */
export interface Estimate {
  readonly counters: ArchiveCounters;
  /** Logical bytes of everything the snapshot would hold. */
  readonly bytesTotal: number;
  /**
   * Bytes that would be read, and the most that could be stored: new and changed files, and files that have to be read
   * to find out whether they changed.
   */
  readonly bytesToRead: number;
  readonly problems: Tally['problems'];
}

/** The dry run of `archive`: same parent, same rules, same decisions. */
export async function estimate(
  request: ArchiveRequest,
  observer: ArchiveObserver,
  signal: AbortSignal,
): Promise<Estimate> {
  const { repository } = request;
  observer.phase('scanning');
  const namespace = repository.keys.newNamespace(request);
  const { snapshots, index } = await whatIsThere(repository, signal, { plain: request.plain });
  const startedMs = repository.clock.now();
  const ctimes = ctimesOf(startedMs, observer);
  const noted = notedFiles(repository, index, { namespace, startedMs, ctimes });
  const tally = new Tally(observer);
  const save = ({ stat, old }: FileToSave, done: PendingEntry): void => {
    if (old === undefined) tally.filesNew += 1;
    else if (looksUnchanged(old, stat)) tally.filesUnchanged += 1;
    else tally.filesChanged += 1;
    tally.bytesRead += stat.size;
    tally.bytesDone += stat.size;
    done(undefined, false);
  };
  const outcomes = new SourceOutcomes(observer);
  const parent = findParent(request, snapshots, { index, ctimes });
  const parts = {
    parent,
    changes: changesSince(parent, request.changes),
    clean: undefined,
    notes: undefined,
    ruleFiles: new Set(request.exclude.ignoreFiles),
    tally,
    signal,
    files: { save, keep: () => {} },
    unchanged: (path: ByteString, stat: EntryStat) =>
      request.parent === 'none'
        ? undefined
        : noted?.unchanged(path, stat, (ids) => ({ content: ids, indirect: false })),
    seen: (path: ByteString) => request.scout?.take(path),
    isOwnRepository: () => false,
    later: [],
    storeChunk: () => Buffer.alloc(24),
    outcomes,
    excluderFor: excluderMaker(request.exclude, observer, outcomes),
    pace: async (path: ByteString) => {
      signal.throwIfAborted();
      observer.directory(path, tally.counters(NOTHING_UPLOADED));
    },
  };
  await walk(arrangeSources(request.sources), parts, () => {});
  return {
    counters: tally.counters(NOTHING_UPLOADED),
    bytesTotal: tally.bytesDone,
    bytesToRead: tally.bytesRead,
    problems: tally.problems,
  };
}
