/** Runs a restore as a job. */
import { hostname } from 'node:os';
import { asByteString, type ByteString } from '../base/byte-path.ts';
import { pathText, treePath } from '../base/tree-path.ts';
import { isFull, storeKey, storedByText } from '../base/stored-by.ts';
import type { RestoreSpec } from '../jobs/job.ts';
import { loadForReading } from '../repository/contents/index-for.ts';
import { resolveSnapshot } from '../repository/resolve-snapshot.ts';
import { listSnapshots, type Snapshot } from '../repository/snapshots.ts';
import { lastPacks } from '../repository/tombstones.ts';
import type {
  RestoreCounters,
  RestoreObserver,
  RestoreRequest,
  RestoreSummary,
} from '../restorer/request/request.ts';
import { restore } from '../restorer/restore.ts';
import { neverPaths, outcomeOf, type JobParts } from './job-parts.ts';
import type { EngineOutcome } from './protocol.ts';
import type { Moment } from './report.ts';
import { PreviewCollector } from './restore-preview.ts';

/** @throws {RequestError} INVALID_TARGET {RepositoryError} SNAPSHOT_NOT_FOUND, PATH_NOT_IN_SNAPSHOT, … */
export async function runRestore(
  parts: JobParts,
  spec: RestoreSpec,
  signal: AbortSignal,
): Promise<EngineOutcome> {
  const { place, report } = parts;
  const { repository } = place;
  report.phase('scanning');
  const { live, tombstones } = await listSnapshots(repository, signal);
  const snapshot = resolveSnapshot(live, spec.snapshot_id);
  noteOtherHost(parts, snapshot, spec);
  const index = await loadForReading(repository, lastPacks(tombstones), signal);
  const { options } = spec;
  const request: RestoreRequest = {
    repository,
    index,
    snapshot,
    target:
      spec.target === null
        ? { kind: 'in-place' }
        : { kind: 'directory', path: spec.target, within: parts.job.allowedRoots },
    never: await neverPaths(parts, signal),
    paths: spec.paths.map(pathOfSpec),
    include: [],
    exclude: [],
    overwrite: options.overwrite,
    deleteExtra: options.delete_extra,
    dryRun: options.dry_run,
    verify: options.verify,
    restoreOwnership: options.restore_ownership,
    ownersByName: true,
    workers: parts.job.workers ?? undefined,
  };
  const collector = options.dry_run ? new PreviewCollector() : undefined;
  const summary = await restore(request, watchRestore(parts, collector), signal);
  const outcome = outcomeOfRestore(parts, snapshot, summary, options.dry_run);
  return collector === undefined ? outcome : { ...outcome, preview: collector.preview(summary, spec.target) };
}

/** Files of another machine on the paths of this one: whoever reads what was done must see it. */
function noteOtherHost(
  { report }: JobParts,
  { record: { host, startedMs } }: Snapshot,
  { target }: RestoreSpec,
): void {
  if (target !== null || host === hostname()) return;
  report.note(
    `The snapshot is of the host ${host}, from ${new Date(startedMs).toISOString()}, and not of this machine.`,
  );
}

function pathOfSpec(path: RestoreSpec['paths'][number]): ByteString {
  return typeof path === 'string'
    ? treePath(path)
    : asByteString(Buffer.from(path.b64, 'base64').toString('latin1'));
}

function watchRestore({ report }: JobParts, collector?: PreviewCollector): RestoreObserver {
  let counters: RestoreCounters = { filesDone: 0, filesTotal: 0, bytesDone: 0, bytesTotal: 0 };
  let planning = true;
  let path: string | null = null;
  report.follow(() => momentOf(counters, planning, path, report.problems));
  return {
    phase: (phase) => {
      planning = phase === 'planning';
      path = null;
      report.phase(planning ? 'scanning' : 'restoring');
    },
    progress: (next, current) => {
      counters = next;
      path = pathText(current);
    },
    problem: ({ path: at, code, message }) => report.problem({ path: pathText(at), code, message }),
    planned: (planned, action, kind) => collector?.planned(planned, action, kind),
  };
}

/** Totals are unknown while planning, as they still grow. */
function momentOf(
  { filesDone, filesTotal, bytesDone, bytesTotal }: RestoreCounters,
  planning: boolean,
  path: string | null,
  problems: number,
): Moment {
  return {
    files: filesDone,
    bytes: bytesDone,
    filesDone,
    bytesDone,
    filesTotal: planning ? undefined : filesTotal,
    bytesTotal: planning ? undefined : bytesTotal,
    counters: { files_failed: problems, current_path: path },
  };
}

function outcomeOfRestore(
  parts: JobParts,
  snapshot: Snapshot,
  summary: RestoreSummary,
  dryRun: boolean,
): EngineOutcome {
  const { report } = parts;
  if (!isFull(snapshot.storedBy))
    report.note(
      `The snapshot was stored by ${storedByText(snapshot.storedBy)}, which chose its host, paths and times.`,
    );
  for (const { kind, count, reason } of summary.omissions)
    report.note(`Not restored: ${kind} of ${count} entries, because ${reason}`);
  if (summary.directoriesUnread > 0)
    report.note(
      `${summary.directoriesUnread} directories could not be read, or not completely, so files in them may be missing`,
    );
  const { filesRestored, filesUnchanged, filesSkipped, filesFailed } = summary;
  const moment: Moment = {
    files: filesRestored,
    bytes: summary.bytesRestored,
    filesDone: filesRestored + filesUnchanged + filesSkipped + filesFailed,
    bytesDone: summary.bytesTotal,
    filesTotal: undefined,
    bytesTotal: undefined,
    counters: { files_unchanged: filesUnchanged, files_failed: filesFailed },
  };
  return outcomeOf(parts, {
    snapshotId: snapshot.id,
    files: filesRestored,
    filesSkipped: filesSkipped + filesUnchanged,
    bytes: summary.bytesRestored,
    warnings: summary.errors.length + summary.errorsMore,
    progress: report.finished(moment),
    facts: {
      dry_run: dryRun,
      stored_by: storeKey(snapshot.storedBy),
      files_unchanged: filesUnchanged,
      files_failed: filesFailed,
      directories: summary.directories,
      links: summary.links,
      deleted: summary.deleted.length + summary.deletedMore,
      duration_ms: Math.round(summary.durationMs),
    },
  });
}
