/**
 * A restore drill: randomly chosen files of the newest snapshots are restored to a scratch directory in the same way as
 * for a person, and compared with the snapshots, which are read again independently.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { mkdir, readdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from '../base/alive.ts';
import { asByteString, joinBytes, type ByteString } from '../base/byte-path.ts';
import { pathText, treePath } from '../base/tree-path.ts';
import { RepositoryError } from '../base/errors.ts';
import { storedByText } from '../base/stored-by.ts';
import { ContentReader } from '../browse/cat.ts';
import { SnapshotTrees } from '../browse/snapshot-trees.ts';
import type { DrillSpec, JobProblem } from '../jobs/job.ts';
import type { ChunkIndex } from '../repository/chunk-index.ts';
import { loadForReading } from '../repository/contents/index-for.ts';
import { listSnapshots, type Snapshot } from '../repository/snapshots.ts';
import { lastPacks } from '../repository/tombstones.ts';
import { SILENT_RESTORE } from '../restorer/request/request.ts';
import { restore } from '../restorer/restore.ts';
import { newestOfEachSource, pickFiles, type PickedFile, type PickedFiles } from '../browse/file-sample.ts';
import { compareRestored } from './drill-compare.ts';
import { outcomeOf, type JobParts } from './job-parts.ts';
import type { EngineOutcome } from './protocol.ts';
import type { Moment } from './report.ts';

/** Share of the free space of the state directory that a drill may fill; larger files are read but not restored. */
const SPACE_SHARE = 0.25;
const SCRATCH = /^drill-(\d+)-[0-9a-f]{16}$/;

interface Tally {
  files: number;
  bytes: number;
  failed: number;
  /** Files too large for the scratch directory: read and checked, but not restored. */
  readOnly: number;
  current: string | null;
}

/** @throws {RepositoryError} CORRUPT_DATA when a file could not be restored, or its content differs */
export async function runDrill(
  parts: JobParts,
  spec: DrillSpec,
  signal: AbortSignal,
): Promise<EngineOutcome> {
  const { job, place, report } = parts;
  const { repository } = place;
  report.phase('scanning');
  const { live, tombstones } = await listSnapshots(repository, signal);
  const index = await loadForReading(repository, lastPacks(tombstones), signal);
  const trees = new SnapshotTrees(repository, index);
  const [own = [], ...others] = newestOfEachSource(live);
  const draw = async (snapshots: readonly Snapshot[]): Promise<readonly PickedFiles[]> =>
    await pickFiles(trees, snapshots, spec.files, (n) => randomInt(n), signal);
  const picked = await draw(own);
  const tally = newTally();
  const all = picked.flatMap(({ files }) => files);
  const totals = { files: all.length, bytes: all.reduce((sum, { entry }) => sum + entry.size, 0) };
  report.follow(() => momentOf(tally, totals));
  await mkdir(job.stateDirectory, { recursive: true, mode: 0o700 });
  await removeLeftovers(job.stateDirectory);
  const scratch = join(job.stateDirectory, `drill-${process.pid}-${randomBytes(8).toString('hex')}`);
  const results: Record<string, string> = {};
  let warnings = 0;
  try {
    await mkdir(scratch, { mode: 0o700 });
    for (const [i, one] of picked.entries()) {
      const failedBefore = tally.failed;
      await drillSnapshot(parts, index, one, join(scratch, String(i)), tally, signal);
      const failed = tally.failed - failedBefore;
      results[`snapshot ${one.snapshot.id}`] = `${one.files.length - failed} of ${one.files.length} files`;
      report.tried({ snapshotId: one.snapshot.id, files: one.files.length, failed });
    }
    for (const group of others) {
      const drill = async (): Promise<number> => {
        let failed = 0;
        for (const one of await draw(group))
          failed += await drillOfOthers(parts, index, one, scratch, signal);
        return failed;
      };
      warnings += await judgeOthers(parts, group, drill, signal);
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  const facts = {
    files: tally.files,
    bytes: tally.bytes,
    files_failed: tally.failed,
    files_read_only: tally.readOnly,
    snapshots: picked.length,
    ...results,
  };
  if (tally.failed > 0) throw failedDrill(tally, facts);
  if (all.length === 0) report.note('No snapshot has any files yet, so there was nothing to test.');
  return outcomeOf(parts, {
    result: all.length === 0 || warnings > 0 ? 'warning' : 'success',
    warnings,
    files: tally.files,
    bytes: tally.bytes,
    progress: report.finished(momentOf(tally, totals)),
    facts,
  });
}

function newTally(): Tally {
  return { files: 0, bytes: 0, failed: 0, readOnly: 0, current: null };
}

/** Resolves with the number of files that failed. */
async function drillOfOthers(
  parts: JobParts,
  index: ChunkIndex,
  one: PickedFiles,
  scratch: string,
  signal: AbortSignal,
): Promise<number> {
  const tally = newTally();
  await drillSnapshot(parts, index, one, join(scratch, one.snapshot.id), tally, signal);
  parts.report.tried({ snapshotId: one.snapshot.id, files: one.files.length, failed: tally.failed });
  return tally.failed;
}

/**
 * Drills what write-only keys stored. A failure is only a warning, as anybody with such a key can store what cannot be
 * restored, which says nothing about other snapshots. Resolves with 1 when something is wrong, otherwise 0.
 */
async function judgeOthers(
  { report }: JobParts,
  [first]: readonly Snapshot[],
  drill: () => Promise<number>,
  signal: AbortSignal,
): Promise<number> {
  if (first === undefined) return 0;
  const who = storedByText(first.storedBy);
  try {
    const failed = await drill();
    if (failed === 0) return 0;
    report.note(`${failed} files that ${who} stored could not be restored.`);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof RepositoryError)) throw error;
    report.note(`What ${who} stored could not be tested: ${error.message}`);
  }
  return 1;
}

async function drillSnapshot(
  parts: JobParts,
  index: ChunkIndex,
  { snapshot, files }: PickedFiles,
  scratch: string,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  const { place, report } = parts;
  await mkdir(scratch, { mode: 0o700 });
  const chosen = thoseThatFit(files, await roomIn(scratch));
  report.phase('restoring');
  const problems = await restoreFiles(parts, index, { snapshot, files: chosen }, scratch, signal);
  report.phase('verifying');
  const content = new ContentReader(place.repository, index, snapshot.record);
  const restored = new Set(chosen);
  for (const file of files) {
    tally.current = pathText(file.path);
    const target = restored.has(file) ? below(scratch, file.path) : undefined;
    const problem = problems.get(file.path) ?? (await compareRestored(content, file, target, signal));
    if (problem !== undefined) {
      tally.failed += 1;
      report.problem(problem);
    }
    if (target === undefined) tally.readOnly += 1;
    tally.files += 1;
    tally.bytes += file.entry.size;
  }
  await rm(scratch, { recursive: true, force: true });
}

function thoseThatFit(files: readonly PickedFile[], room: number): readonly PickedFile[] {
  let used = 0;
  return files.filter(({ entry }) => {
    if (used + entry.size > room) return false;
    used += entry.size;
    return true;
  });
}

/** Resolves with the problems by path in the snapshot. */
async function restoreFiles(
  { place, job }: JobParts,
  index: ChunkIndex,
  { snapshot, files }: PickedFiles,
  target: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<ByteString, JobProblem>> {
  const problems = new Map<ByteString, JobProblem>();
  if (files.length === 0) return problems;
  await restore(
    {
      repository: place.repository,
      index,
      snapshot,
      target: { kind: 'directory', path: target },
      // The target is inside the state directory, so that one must not be excluded.
      never: [],
      paths: files.map(({ path }) => path),
      include: [],
      exclude: [],
      overwrite: 'never',
      deleteExtra: false,
      dryRun: false,
      verify: true,
      restoreOwnership: false,
      ownersByName: false,
      workers: job.workers ?? undefined,
    },
    {
      ...SILENT_RESTORE,
      problem: ({ path, code, message }) => problems.set(path, { path: pathText(path), code, message }),
    },
    signal,
  );
  return problems;
}

function below(directory: string, path: ByteString): ByteString {
  return joinBytes(treePath(directory), asByteString(path.slice(1)));
}

async function roomIn(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize * SPACE_SHARE;
}

/** Removes the scratch directories of drills that were killed. */
async function removeLeftovers(stateDirectory: string): Promise<void> {
  for (const name of await readdir(stateDirectory)) {
    const pid = Number(SCRATCH.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid) || (pid !== process.pid && isAlive(pid))) continue;
    await rm(join(stateDirectory, name), { recursive: true, force: true });
  }
}

function momentOf(tally: Tally, totals: { readonly files: number; readonly bytes: number }): Moment {
  return {
    files: tally.files,
    bytes: tally.bytes,
    filesDone: tally.files,
    bytesDone: tally.bytes,
    filesTotal: totals.files,
    bytesTotal: totals.bytes,
    counters: { files_failed: tally.failed, current_path: tally.current },
  };
}

function failedDrill(
  tally: Tally,
  details: Readonly<Record<string, string | number | boolean>>,
): RepositoryError {
  return new RepositoryError(
    'CORRUPT_DATA',
    `The restore drill failed for ${tally.failed} of ${tally.files} files`,
    {
      hint: 'Run a check that reads all data, and back up again, which stores missing data again. Check the drive.',
      details,
    },
  );
}
