import { asByteString, type ByteString, pathNames, textOfBytes } from '../base/byte-path.ts';
import { pathText } from '../base/tree-path.ts';
import { causeText } from '../base/errno-words.ts';
import { errnoOf, RequestError } from '../base/errors.ts';
import { holdfastThere } from '../base/holdfast-command.ts';
import { findPath } from '../browse/locate.ts';
import type { Namespace } from '../codec/keys.ts';
import type { SnapshotRecord } from '../format/records.ts';
import type { ChunkIndex } from '../repository/chunk-index.ts';
import { loadForReading } from '../repository/contents/index-for.ts';
import type { Repository } from '../repository/repository.ts';
import { lastPacks, readTombstones } from '../repository/tombstones.ts';
import { TreeReader } from '../repository/contents/tree-reader.ts';
import { assignCompared, ContentPlan } from './content/content-plan.ts';
import { isFull, targetFull } from './target/entry-failure.ts';
import { reportCompared, reportPlan } from './finish/report-plan.ts';
import { finishRestore, touchedBy } from './finish/finish.ts';
import { LastSync } from './finish/last-sync.ts';
import type { WorkerSetup } from './content/messages.ts';
import { MetadataWriter } from './metadata/metadata.ts';
import { planNextLeaders } from './plan/next-leaders.ts';
import { holdTarget } from './target/held-target.ts';
import { openTarget, type OpenTarget, removeMade } from './target/open-target.ts';
import { planRestore } from './plan/plan.ts';
import type { RestoreObserver, RestoreRequest, RestoreSummary } from './request/request.ts';
import { compileSelection, NOTHING, type SelectedDirectory, withoutPlaces } from './request/selection.ts';
import { openScene, type RestoreScene, settle, topOf } from './scene.ts';
import { removeUnfinished } from './target/unfinished-files.ts';
import { WorkerPool } from './content/worker-pool.ts';

/**
 * Restores a snapshot, or a selection from it: walk the tree and make the directories, compare the files that exist in
 * the target, fetch each needed segment once and write its files, then make the links, then set the directories'
 * metadata. An error with one entry is listed in the summary and costs that entry only.
 *
 * @throws {RequestError} INVALID_TARGET, NOT_A_DIRECTORY, NOTHING_MATCHES, a pattern that makes no sense, a path
 * outside the subfolder
 * @throws {RepositoryError} PATH_NOT_IN_SNAPSHOT, CORRUPT_DATA when the root cannot be read, LIMIT_EXCEEDED
 * @throws {DestinationError} when the destination cannot be reached
 * @throws {StateError} TARGET_FULL, TARGET_IN_USE
 */
export async function restore(
  request: RestoreRequest,
  observer: RestoreObserver,
  signal: AbortSignal,
): Promise<RestoreSummary> {
  let target: OpenTarget | undefined;
  try {
    target = openTarget(request);
    return await restoreTo(target, request, observer, signal);
  } catch (error) {
    removeMade(target?.made ?? []);
    if (!isFull(errnoOf(error))) throw error;
    throw targetFull(causeText(error), error);
  }
}

async function restoreTo(
  target: OpenTarget,
  request: RestoreRequest,
  observer: RestoreObserver,
  signal: AbortSignal,
): Promise<RestoreSummary> {
  const { repository, snapshot } = request;
  await using disposal = new AsyncDisposableStack();
  const scene = openScene(target, request, observer, disposal);
  const { tally, records, directories } = scene;
  // in place, nothing can be put into the root directory
  if (target.root !== undefined && request.target.kind === 'directory' && !request.dryRun)
    disposal.defer(await holdTarget(target.root, scene.run, target.path, signal));

  observer.phase('planning');
  const index = request.index ?? (await openIndex(repository, signal));
  const reader = new TreeReader(repository, index, namespaceOf(snapshot.record));
  const start = await startOf(scene, reader, signal);
  const content = new ContentPlan(index);
  const pool = openPool(scene, content, target, disposal);
  // the threads start up while the plan is being made
  const expect = pool.expect.bind(pool);
  const plan = await planRestore({ ...scene, reader, index, content, expect }, start, signal);
  // If parts of the tree could not be read, the matches may have been there; those parts are listed as problems.
  if (plan.isEmpty && request.include.length > 0 && tally.problems === 0) throw nothingMatches(request);
  if (plan.inheritsAcls) pool.clearInheritedAcls();
  if (plan.compare.length > 0) {
    observer.phase('comparing');
    await pool.compare(plan.compare, signal);
  }
  if (directories === undefined || request.dryRun) {
    if (directories !== undefined)
      reportCompared(plan.compare, { ...scene, directories, records: records.records });
    reportPlan({ plan, ...scene });
    return tally.summary();
  }
  assignCompared(plan.compare, { records: records.records, content, failed: scene.failed });

  observer.phase('restoring');
  const parts = { records: records.records, directories, run: scene.run };
  for (let next = content, more = 1; more > 0;) {
    await pool.write(next, repository.destination, signal);
    // Not all parts of a failed file are written. What there is of it has to go before its directory gets its times.
    removeUnfinished(next.spread, parts);
    next = new ContentPlan(index);
    more = planNextLeaders(plan.groups, { ...scene, content: next });
  }

  observer.phase('finishing');
  const metadata = new MetadataWriter(scene.policy, tally.omissions);
  if (plan.inheritsAcls) metadata.clearInheritedAcls();
  const touched = touchedBy(plan, scene.touched, records.records);
  using lastSync = new LastSync(touched.size + tally.filesRestored);
  await finishRestore({
    ...scene,
    plan,
    directories,
    records: records.records,
    metadata,
    touched,
    lastSync,
    signal,
  });
  const unsynced = await pool.sync(lastSync.fileSystems, signal);
  if (unsynced !== undefined)
    tally.problem(ROOT, unsynced.code, `some of what was restored may not be on disk: ${unsynced.message}`);
  tally.finish();
  return tally.summary();
}

async function openIndex(repository: Repository, signal: AbortSignal): Promise<ChunkIndex> {
  const last = lastPacks(await readTombstones(repository, signal));
  return await loadForReading(repository, last, signal);
}

function openPool(
  scene: RestoreScene,
  content: ContentPlan,
  target: OpenTarget,
  disposal: AsyncDisposableStack,
): WorkerPool {
  const { request, directories, records, root, policy, run } = scene;
  const { repository, snapshot, verify, workers } = request;
  const setup: Omit<WorkerSetup, 'stop'> = {
    keys: repository.keys.material,
    plain: snapshot.record.plain,
    salt: snapshot.record.salt,
    target: target.handover,
    root,
    policy,
    verify,
    run,
  };
  const pool = new WorkerPool(setup, workers, records, (result) => settle(result, scene));
  disposal.defer(() => {
    if (directories === undefined) return;
    const parts = { records: records.records, directories, run };
    removeUnfinished(content.spread, parts);
    removeUnfinished(pool.incomplete, parts);
  });
  return disposal.use(pool);
}

function namespaceOf({ plain, salt }: SnapshotRecord): Namespace {
  return { plain, salt };
}

/** Where the walk begins. Makes sure that everything asked for exists in the snapshot. */
async function startOf(
  { request, ownPlaces }: RestoreScene,
  reader: TreeReader,
  signal: AbortSignal,
): Promise<{ readonly tree: Buffer; readonly selection: SelectedDirectory }> {
  const { snapshot } = request;
  const paths: ByteString[] = [];
  for (const path of request.paths) paths.push((await findPath(reader, snapshot, path, signal)).path);
  const subfolder = await subfolderOf(request, reader, signal);
  if (subfolder !== undefined) requireInside(subfolder.path, paths);
  const rules = { ...request, paths, subfolder: subfolder?.path };
  let selection = compileSelection(rules, snapshot.record.paths);
  for (const name of pathNames(topOf(request))) selection = selection.enter(name) ?? NOTHING;
  const tree = request.target.kind === 'in-place' ? undefined : subfolder?.tree;
  return { tree: tree ?? snapshot.record.root, selection: withoutPlaces(selection, ownPlaces) };
}

async function subfolderOf(
  { snapshot, subfolder }: RestoreRequest,
  reader: TreeReader,
  signal: AbortSignal,
): Promise<{ readonly path: ByteString; readonly tree: Buffer } | undefined> {
  if (subfolder === undefined) return undefined;
  const { tree, path } = await findPath(reader, snapshot, subfolder, signal);
  if (tree !== undefined) return { path, tree };
  throw new RequestError('NOT_A_DIRECTORY', `${pathText(path)} is not a directory in the snapshot`, {
    hint: 'Name it as a path to restore instead.',
  });
}

/** Refuses paths outside the subfolder. A path above it means all of it. */
function requireInside(subfolder: ByteString, paths: readonly ByteString[]): void {
  const names = pathNames(subfolder);
  for (const path of paths) {
    const others = pathNames(path);
    if (names.every((name, i) => others.length <= i || others[i] === name)) continue;
    throw new RequestError(
      'PATH_NOT_IN_SNAPSHOT',
      `${pathText(path)} is not in ${pathText(subfolder)}, and only that folder is restored`,
      { hint: 'Name paths in that directory, or restore from the whole snapshot.' },
    );
  }
}

/** The error for patterns without a match: a mistyped one must not look like a successful restore. */
function nothingMatches({ include, subfolder }: RestoreRequest): RequestError {
  const patterns = include.map(({ pattern }) => `'${textOfBytes(pattern)}'`).join(', ');
  const top = pathText(subfolder ?? ROOT);
  return new RequestError('NOTHING_MATCHES', `No file to restore matches ${patterns}`, {
    hint: `Patterns work as in .gitignore: one with a slash in it begins at ${top}. Look for names with: ${holdfastThere`find NAME`}`,
  });
}

const ROOT = asByteString('/');
