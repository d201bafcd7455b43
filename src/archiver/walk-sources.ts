/** Walks all sources in one pass and has their files read meanwhile. */
import { asByteString, type ByteString, joinBytes } from '../base/byte-path.ts';
import { errnoOf, RepositoryError } from '../base/errors.ts';
import type { ExcludeOptions } from '../exclude/excluder.ts';
import type { Lease } from '../repository/lease.ts';
import type { EntryStat } from '../system/entry-stat.ts';
import { leftOutMounts } from '../system/mac-mounts.ts';
import { mountTable, parseMounts } from '../system/mount-table.ts';
import type { ArchiveRequest } from './archive-request.ts';
import { changesSince } from './before/change-set.ts';
import { cleanTest, type TreeNotes } from './before/known-tree.ts';
import type { ContentOf, NotedFiles } from './before/noted-files.ts';
import type { Parent } from './before/parent.ts';
import { FileSaver } from './read/file-saver.ts';
import { type Batch, Batcher } from './read/read-job.ts';
import type { Readers } from './read/readers.ts';
import type { ArchiveObserver } from './report/observer.ts';
import type { SourceOutcomes } from './report/source-outcomes.ts';
import type { Tally } from './report/tally.ts';
import { arrangeSources } from './source/source-tree.ts';
import { statPath } from './source/stat.ts';
import type { PackStore } from './store/pack-store.ts';
import type { StoredDirectory } from './store/pending-directory.ts';
import type { TreeStore } from './store/tree-store.ts';
import { excluderMaker } from './walk/rule-files.ts';
import type { WalkParts } from './walk/walk-parts.ts';
import { walk, walkLater } from './walk/walk.ts';

export interface WalkContext {
  readonly parent: Parent | undefined;
  readonly outcomes: SourceOutcomes;
  readonly tally: Tally;
  readonly store: PackStore;
  readonly trees: TreeStore;
  readonly readers: Readers;
  readonly session: Lease;
  readonly notes: TreeNotes | undefined;
  readonly noted: NotedFiles | undefined;
  readonly observer: ArchiveObserver;
  readonly signal: AbortSignal;
}

/** Walks and reads everything. Resolves once every data pack is stored and the last tree pack is on its way. */
export async function walkSources(request: ArchiveRequest, context: WalkContext): Promise<StoredDirectory> {
  const { parent, outcomes, tally, store, trees, readers, session } = context;
  const { notes, noted, observer, signal } = context;
  const batches: Batch[] = [];
  const batcher = new Batcher((batch) => batches.push(batch));
  const send = async (): Promise<void> => {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      await readers.submit(batch, signal);
    }
  };
  let root: StoredDirectory | undefined;
  const changes = changesSince(parent, request.changes);
  // Directories that are reused are not looked at, so exclude rules hidden in them are assumed to be there still.
  if (notes !== undefined) notes.hiddenRules = changes?.hiddenRules === true;
  const clean = notes && (await cleanTest(parent, changes, request.known, notes));
  if (parent !== undefined && clean !== undefined) tally.startFrom(parent.snapshot.record.counts);
  if (parent !== undefined && changes !== undefined) tally.stillOmit(parent.snapshot.record.omitted);
  const contentOf: ContentOf = (ids) => trees.content(ids);
  const parts: WalkParts = {
    parent,
    changes,
    clean,
    notes,
    ruleFiles: new Set(request.exclude.ignoreFiles),
    tally,
    signal,
    files: new FileSaver(batcher, tally, contentOf, noted?.note),
    unchanged: (path: ByteString, stat: EntryStat) =>
      request.parent === 'none' ? undefined : noted?.unchanged(path, stat, contentOf),
    seen: (path: ByteString) => request.scout?.take(path),
    isOwnRepository: isAtWorkIn(session),
    later: [],
    storeChunk: trees.put,
    outcomes,
    excluderFor: excluderMaker(withMounts(request), observer, outcomes),
    pace: async (path: ByteString) => {
      signal.throwIfAborted();
      if (session.lost !== undefined) throw session.lost;
      observer.directory(path, tally.counters(store));
      await send();
      await trees.room(signal);
    },
  };
  await walk(arrangeSources(request.sources), parts, (stored) => {
    root = stored;
  });
  // The results of the readers may call for more reading: by another name of a file whose first name is gone, or of a
  // directory that has replaced a file.
  do {
    await walkLater(parts);
    batcher.flush();
    await send();
    await readers.drain(signal);
  } while (!batcher.isEmpty || batches.length > 0 || parts.later.length > 0);
  // The last pack of trees is sent while the readers' last packs are still on their way.
  observer.phase('uploading');
  trees.finish();
  await readers.finish(signal);
  if (root === undefined) throw new RepositoryError('REFUSED', 'The walk ended without a complete tree');
  return root;
}

/** What is left out, with the mounts of macOS that lie in the sources but do not belong to them. */
function withMounts({ exclude, sources }: ArchiveRequest): ExcludeOptions {
  if (process.platform !== 'darwin') return exclude;
  return { ...exclude, never: [...exclude.never, ...leftOutMounts(parseMounts(mountTable()), sources)] };
}

const LEASES = asByteString('leases');

/**
 * Recognises the repository of this run by the lease that the run has just stored in it. Path and inode cannot tell where a
 * FUSE program, a server on this machine or a network drive shows the repository again. A mere copy does not have this lease.
 */
function isAtWorkIn({
  purpose,
}: Pick<Lease, 'purpose'>): (directory: ByteString, names: readonly ByteString[]) => boolean {
  return (directory, names) => {
    if (!names.includes(LEASES)) return false;
    const lease = joinBytes(joinBytes(directory, LEASES), asByteString(purpose));
    try {
      return statPath(lease) !== undefined;
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return false;
    }
  };
}
