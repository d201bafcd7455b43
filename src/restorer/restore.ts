import { asByteString, type ByteString } from '../base/byte-path.ts';
import { RequestError, errnoOf } from '../base/errors.ts';
import { findPath, pathNames, pathOf } from '../browse/locate.ts';
import type { Namespace } from '../codec/keys.ts';
import { loadIndex } from '../repository/chunk-index.ts';
import { TreeReader } from '../repository/tree-reader.ts';
import { assignCompared } from './assign-compared.ts';
import { ContentPlan } from './content-plan.ts';
import { EntryRecordWriter, NO_RECORD } from './entry-records.ts';
import { finishRestore } from './finish.ts';
import { removeUnfinished } from './file-writer.ts';
import { isFull, targetFull } from './full-target.ts';
import { keptPaths } from './kept-paths.ts';
import type { JobResult, WorkerSetup } from './messages.ts';
import { MetadataWriter } from './metadata.ts';
import { OpenDirectories } from './open-directories.ts';
import { openTarget, type OpenTarget } from './open-target.ts';
import { planRestore } from './plan.ts';
import { metadataPolicy } from './policy.ts';
import type { RestoreObserver, RestoreRequest, RestoreSummary } from './request.ts';
import { compileSelection, type SelectedDirectory } from './selection.ts';
import { RestoreTally } from './tally.ts';
import { newRun } from './temporary-names.ts';
import { WorkerPool } from './worker-pool.ts';

/**
 * Restores a snapshot, or what was chosen of it: walk the tree and make the directories, compare what stands there,
 * fetch each needed segment once and write its files, then links, then the directories' metadata. What goes wrong with
 * one entry is listed in the summary and costs that entry only.
 *
 * @throws {RequestError} INVALID_TARGET, a pattern that cannot be meant
 * @throws {RepositoryError} PATH_NOT_IN_SNAPSHOT, CORRUPT_DATA when the root cannot be read, LIMIT_EXCEEDED
 * @throws {DestinationError} when the destination cannot be reached
 * @throws {StateError} TARGET_FULL
 */
export async function restore(
  request: RestoreRequest,
  observer: RestoreObserver,
  signal: AbortSignal,
): Promise<RestoreSummary> {
  try {
    return await restoreTo(openTarget(request.target, request.dryRun), request, observer, signal);
  } catch (error) {
    if (!isFull(errnoOf(error))) throw error;
    throw targetFull(error instanceof Error ? error.message : String(error), error);
  }
}

async function restoreTo(
  target: OpenTarget,
  request: RestoreRequest,
  observer: RestoreObserver,
  signal: AbortSignal,
): Promise<RestoreSummary> {
  const { repository, snapshot, dryRun } = request;
  observer.phase('planning');
  const tally = new RestoreTally(observer, repository.clock, asByteString(request.subfolder ?? '/'));
  const namespace: Namespace = { plain: snapshot.record.plain, salt: snapshot.record.salt };
  const policy = metadataPolicy(request);
  const run = newRun();
  const records = new EntryRecordWriter();
  const root = records.add(NO_RECORD, ROOT, 0, 0, 0).handle;
  await using disposal = new AsyncDisposableStack();
  const directories =
    target.root === undefined ? undefined : new OpenDirectories(records.records, root, target.root);
  disposal.defer(() => directories?.close());

  const failed = new Set<number>();
  const done = (result: JobResult): void =>
    settle(result, { tally, records, failed, pathOf: (file) => pathIn(directories, file) });
  const setup: Omit<WorkerSetup, 'stop'> = {
    keys: repository.keys.material,
    ...namespace,
    salt: namespace.salt,
    target: target.handover,
    root,
    policy,
    verify: request.verify,
    run,
  };
  const index = request.index ?? (await loadIndex(repository, { without: new Set() }, signal));
  const reader = new TreeReader(repository, index, namespace);
  const start = await startOf(request, reader, signal);
  const content = new ContentPlan(index);
  disposal.defer(() => {
    if (directories !== undefined)
      removeUnfinished(content.spread, { records: records.records, directories, run });
  });
  const pool = dryRun ? undefined : disposal.use(new WorkerPool(setup, request.workers, records, done));
  const { largestFile } = target;
  const parts = {
    request,
    reader,
    index,
    records,
    content,
    target: directories,
    root,
    tally,
    observer,
    largestFile,
    // the threads start up while the plan is being made
    expect: (bytes: number) => pool?.expect(bytes),
  };
  const plan = await planRestore(parts, start, signal);
  if (pool === undefined || directories === undefined) return tally.summary();

  if (plan.inheritsAcls) pool.clearInheritedAcls();
  if (plan.compare.length > 0) {
    observer.phase('comparing');
    await pool.compare(plan.compare, signal);
    assignCompared(plan.compare, { records: records.records, content, failed });
  }

  observer.phase('restoring');
  await pool.write(content, repository.destination, signal);

  observer.phase('finishing');
  const metadata = new MetadataWriter(policy, tally.omissions);
  if (plan.inheritsAcls) metadata.clearInheritedAcls();
  const kept = keptPaths(snapshot.record);
  const keep = (path: ByteString): boolean => kept(tally.inSnapshot(path));
  finishRestore({ plan, records: records.records, target: directories, metadata, tally, run, keep, signal });
  tally.finish();
  return tally.summary();
}

/** The target itself keeps the metadata it has. */
const ROOT = { name: asByteString(''), mode: 0, uid: 0, gid: 0, mtimeNs: 0n, ctimeNs: 0n, inode: 0 };

/** Where the walk begins, with everything asked for known to exist. */
async function startOf(
  request: RestoreRequest,
  reader: TreeReader,
  signal: AbortSignal,
): Promise<{ readonly tree: Buffer; readonly selection: SelectedDirectory }> {
  const { snapshot, subfolder } = request;
  const paths: ByteString[] = [];
  for (const path of request.paths) {
    const found = await findPath(reader, snapshot, path, signal);
    paths.push(found.path);
  }
  let selection = compileSelection({ ...request, paths }, snapshot.record.paths);
  if (subfolder === undefined) return { tree: snapshot.record.root, selection };
  const { tree, path } = await findPath(reader, snapshot, subfolder, signal);
  if (tree === undefined) {
    throw new RequestError('NOT_A_DIRECTORY', `${path} is not a directory in the snapshot`, {
      hint: 'Name it as a path to restore instead.',
    });
  }
  for (const name of pathNames(path)) selection = selection.enter(name) ?? NOTHING;
  return { tree, selection };
}

const NOTHING: SelectedDirectory = {
  selected: false,
  everything: false,
  enter: () => undefined,
  takes: () => false,
};

function pathIn(directories: OpenDirectories | undefined, file: number): ByteString {
  return directories?.pathOfEntry(file) ?? pathOf([]);
}

/** Takes over what a thread did. */
function settle(
  result: JobResult,
  {
    tally,
    records,
    failed,
    pathOf,
  }: {
    tally: RestoreTally;
    records: EntryRecordWriter;
    failed: Set<number>;
    pathOf: (file: number) => ByteString;
  },
): void {
  tally.filesRestored += result.files;
  tally.filesUnchanged += result.unchanged;
  tally.bytesDone += result.fileBytes;
  tally.bytesRestored += result.bytes;
  tally.omissions.add(result.omissions);
  for (const { file, code, message } of result.failures) {
    failed.add(file);
    tally.fileFailed(pathOf(file), records.records.at(file).size, code, message);
  }
  if (result.lastFile !== NO_RECORD) tally.progress(() => pathOf(result.lastFile));
}
