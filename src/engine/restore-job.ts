/** A restore as a job. */
import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { PatternSetting } from '../archiver/exclude-patterns.ts';
import type { NeverPath } from '../archiver/exclude.ts';
import { asByteString, bytesOfText, textOfBytes, type ByteString } from '../base/byte-path.ts';
import { RequestError, errnoOf } from '../base/errors.ts';
import { lookUpPath, pathNames, pathOf } from '../browse/locate.ts';
import type { RestoreSpec } from '../jobs/job.ts';
import { loadIndex } from '../repository/chunk-index.ts';
import { listSnapshots, resolveSnapshot, type Snapshot } from '../repository/snapshots.ts';
import { TreeReader } from '../repository/tree-reader.ts';
import type {
  RestoreCounters,
  RestoreObserver,
  RestoreRequest,
  RestoreSummary,
} from '../restorer/request.ts';
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
  const root = rootOf(spec.target);
  const never = sparedPaths(root, await neverPaths(parts, signal));
  const { live } = await listSnapshots(repository, signal);
  const snapshot = resolveSnapshot(live, spec.snapshot_id);
  const spared = never.filter((path) => isReached(path, snapshot.record.paths));
  const index = await loadIndex(repository, { without: new Set() }, signal);
  if (spec.options.delete_extra) {
    const reader = new TreeReader(repository, index, snapshot.record);
    await requireDirectoriesAbove(spared, reader, snapshot, signal);
  }
  const { options } = spec;
  const request: RestoreRequest = {
    repository,
    index,
    snapshot: sparing(snapshot, spared),
    target:
      spec.target === null
        ? { kind: 'in-place' }
        : { kind: 'directory', path: spec.target, within: parts.job.allowedRoots },
    paths: spec.paths.map(pathOfSpec),
    include: [],
    exclude: spared.map(patternFor),
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

function pathOfSpec(path: RestoreSpec['paths'][number]): ByteString {
  return typeof path === 'string'
    ? bytesOfText(path)
    : asByteString(Buffer.from(path.b64, 'base64').toString('latin1'));
}

/** Where the root of the snapshot will lie, with links resolved as far as the path exists. */
function rootOf(target: string | null): string {
  if (target === null) return '/';
  const wanted = resolve(target);
  try {
    return realpathSync(wanted);
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return wanted;
    const above = dirname(wanted);
    return above === wanted ? wanted : join(rootOf(above), basename(wanted));
  }
}

/**
 * Holdfast's own places that lie in the target, as paths of the snapshot: nothing there is written or removed.
 * @throws {RequestError} INVALID_TARGET when the target lies in one of them
 */
function sparedPaths(root: string, never: readonly NeverPath[]): readonly ByteString[] {
  const target = bytesOfText(root);
  return never.flatMap(({ path, reason }) => {
    if (target === path || target.startsWith(`${path}/`)) {
      throw new RequestError('INVALID_TARGET', `${root} is, or lies in, ${reason}`, {
        hint: 'Choose another directory.',
        details: { path: root, reason: 'inside_state_directory' },
      });
    }
    if (target === '/') return [path];
    return path.startsWith(`${target}/`) ? [asByteString(path.slice(target.length))] : [];
  });
}

/** Above its sources a snapshot only has the directories that lead to them, and those change nothing. */
function isReached(path: ByteString, sources: readonly ByteString[]): boolean {
  return sources.some(
    (source) =>
      source === '/' || path === source || path.startsWith(`${source}/`) || source.startsWith(`${path}/`),
  );
}

/** A pattern that matches the path alone, anchored at the root. */
function patternFor(path: ByteString): PatternSetting {
  const pattern = asByteString(path.replaceAll(/[\\*?[\]]/g, '\\$&'));
  return { pattern, from: "Holdfast's own places" };
}

/**
 * The snapshot with these paths among those that the backup did not read: that they are missing from it is then no
 * reason to delete them, nor what leads to them.
 */
function sparing(snapshot: Snapshot, spared: readonly ByteString[]): Snapshot {
  if (spared.length === 0) return snapshot;
  const { record } = snapshot;
  const errors = [...record.errors, ...spared.map((path) => ({ path, code: 'NEVER', message: '' }))];
  return { ...snapshot, record: { ...record, errors } };
}

/** A file of the snapshot must not take the place of a directory in which Holdfast's own places lie now. */
async function requireDirectoriesAbove(
  spared: readonly ByteString[],
  reader: TreeReader,
  snapshot: Snapshot,
  signal: AbortSignal,
): Promise<void> {
  for (const path of spared) {
    const above = pathOf(pathNames(path).slice(0, -1));
    const found = await lookUpPath(reader, snapshot, above, signal);
    const last = 'nearest' in found ? found.nearest : found;
    if (last.tree !== undefined) continue;
    throw new RequestError(
      'INVALID_TARGET',
      `${textOfBytes(last.path)} is no directory in the snapshot, and Holdfast's own data lie below it now`,
      {
        hint: 'Restore to another directory, or without deleting what is extra.',
        details: { path: textOfBytes(last.path), reason: 'inside_state_directory' },
      },
    );
  }
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
      path = textOfBytes(current);
    },
    problem: ({ path: at, code, message }) => report.problem({ path: textOfBytes(at), code, message }),
    planned: (planned, action, kind) => collector?.planned(planned, action, kind),
  };
}

/** While planning the totals still grow. */
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
  for (const { kind, count, reason } of summary.omissions)
    report.note(`Not restored: ${kind} of ${count} entries, because ${reason}`);
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
      files_unchanged: filesUnchanged,
      files_failed: filesFailed,
      directories: summary.directories,
      links: summary.links,
      deleted: summary.deleted.length + summary.deletedMore,
      duration_ms: Math.round(summary.durationMs),
    },
  });
}
