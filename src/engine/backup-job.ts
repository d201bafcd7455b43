/** A backup as a job: one source to one destination. */
import { archive, type ArchiveSummary } from '../archiver/archive.ts';
import { estimate } from '../archiver/estimate.ts';
import type { ExcludeOptions } from '../exclude/excluder.ts';
import { madeHere } from '../archiver/snapshot-record.ts';
import type { ArchiveCounters, ArchiveObserver } from '../archiver/report/observer.ts';
import { chooseParent } from '../archiver/before/parent.ts';
import type { ExpectedTotals } from '../archiver/walk/size-scan.ts';
import { requireAnswer, resolveSources, type Sources } from '../archiver/source/sources.ts';
import type { ByteString } from '../base/byte-path.ts';
import { pathText, treePath } from '../base/tree-path.ts';
import type { SourceError } from '../base/errors.ts';
import { jobTags } from '../base/job-tag.ts';
import { omissionText } from '../format/omission.ts';
import { parseCompression } from '../codec/compress.ts';
import { packsDamagedText } from '../archiver/before/damaged-parts.ts';
import { foreignText } from '../repository/foreign-record.ts';
import { listSnapshots, type Snapshot } from '../repository/snapshots.ts';
import { whereItLies } from '../system/where-it-lies.ts';
import type { BackupSpec } from '../jobs/job.ts';
import { usableChanges, type UsableChanges } from './change-set.ts';
import { lastOfSource, ofSource, refuseEmptySource } from './empty-source.ts';
import { excludeOf } from './exclude-rules.ts';
import { doneUnderLimit, expectTotals } from './job-progress.ts';
import {
  alreadyMade,
  finalMoment,
  keepProtected,
  MADE_BEFORE,
  nothingStored,
  problemOf,
  stands,
} from './made-snapshot.ts';
import { type JobParts, neverPaths, outcomeOf, snapshotOfJob } from './job-parts.ts';
import { sentences } from './job-error.ts';
import type { EngineOutcome } from './protocol.ts';
import type { Moment } from './report.ts';
import { compareWithLast } from './source-comparison.ts';
import { digestOf, recallWalk, rememberWalkIfPossible, type WalkKey } from './walk-memory.ts';
import type { ArchiveRequest } from '../archiver/archive-request.ts';
import type { KnownTree } from '../archiver/before/known-tree.ts';
import type { Repository } from '../repository/repository.ts';

/** @throws {SourceError} INVALID_SOURCE, SOURCE_SUSPICIOUSLY_EMPTY */
export async function runBackup(
  parts: JobParts,
  spec: BackupSpec,
  signal: AbortSignal,
): Promise<EngineOutcome> {
  const { job, place, report } = parts;
  const repository = place.cached;
  report.phase('scanning');
  await requireAnswer([spec.source], '/', signal);
  const { live } = await listSnapshots(repository, signal, { remembered: true });
  const made = snapshotOfJob(live, job.id);
  const lies = treePath(whereItLies(spec.source));
  const { host } = madeHere();
  const earlier = live.filter(({ id }) => id !== made?.id);
  const names = [treePath(spec.source), lies];
  const last = lastOfSource(earlier, host, names);
  const lacking = made !== undefined && !(await stands(parts, made, signal)) ? 1 : 0;
  if (made !== undefined && lacking === 0) return await alreadyMade(parts, made, MADE_BEFORE, last, signal);
  const never = await neverPaths(parts, signal);
  // By now the source may be a symbolic link, or one with another target, to a place that was never backed up. So
  // snapshots under the source's name count as well.
  if (!job.emptyExpected && !spec.options.dry_run)
    refuseEmptySource(lies, spec.source, ofSource(live, host, names), never);
  const { source, named, notes } = findSource(spec, never);
  for (const note of notes) report.note(note);
  const request = requestOf(parts, spec, { source, named, never });
  const key: WalkKey = { ...job, repositoryId: repository.id, sources: [source] };
  const rules = rulesOf(request.exclude, source);
  const changes = usableChanges({
    ...request,
    changes: job.changes,
    source: { named: treePath(spec.source), real: source },
    live,
    last: job.changes === null ? undefined : await recallWalk(key),
    rules,
  });
  if (job.changes !== null && changes === undefined)
    report.note('The watched changes are incomplete, so this backup checks the whole source.');
  const comparing = { ...request, ...changesOf(changes) };
  await using totals = expectTotals(comparing, lastTotals(comparing, live));
  const rulesTold = new Set<string>();
  const ruleProblem = (error: SourceError): void => tellOfRule(error, spec.source, rulesTold, parts);
  const observer = { ...watchArchive(parts, (found) => totals.now(found)), ruleProblem };
  if (spec.options.dry_run) {
    const { counters, bytesTotal, bytesToRead, problems } = await estimate(comparing, observer, signal);
    const moment = momentOf(counters, undefined, null);
    return outcomeOf(parts, {
      files: moment.files,
      bytes: bytesTotal,
      warnings: problems.length + rulesTold.size,
      progress: report.finished(moment),
      facts: { dry_run: true, bytes_to_read: bytesToRead },
    });
  }
  const known = recallTree(repository, source);
  const summary = await archive({ ...comparing, known, learn: true }, observer, signal);
  keepTree(repository, source, summary.known);
  const hiddenRules = summary.known?.notes.hiddenRules ?? true;
  const walk = { snapshot: summary.snapshot.id, rules, hiddenRules };
  if (!place.pretended) await rememberWalkIfPossible(key, walk, report);
  await keepProtected(parts, signal);
  // Flushes the cache, so that the catalog, which takes the snapshot in next, need not read it from the destination.
  place.cached.cache.write?.();
  const run = { summary, last, earlier, told: rulesTold.size + lacking };
  return await madeNow(parts, run, signal);
}

interface Made {
  readonly summary: ArchiveSummary;
  readonly last: Snapshot | undefined;
  readonly earlier: readonly Snapshot[];
  /** Warnings about exclude rules, plus one for an earlier snapshot of the job that lacks data. */
  readonly told: number;
}

async function madeNow(
  parts: JobParts,
  { summary, last, earlier, told }: Made,
  signal: AbortSignal,
): Promise<EngineOutcome> {
  const { snapshot, bytesNew, bytesRead, bytesUploaded, durationMs, foreign, packsDamaged } = summary;
  const { counts, errors, errorsMore, omitted } = snapshot.record;
  for (const what of omitted) parts.report.note(`Not backed up: ${omissionText(what)}`);
  const contentNew = Math.min(bytesNew, bytesRead);
  if (foreign !== undefined) parts.report.note(foreignText(foreign));
  if (packsDamaged > 0) parts.report.note(packsDamagedText(packsDamaged));
  const moment = finalMoment(snapshot, {
    bytes_uploaded: bytesUploaded,
    bytes_deduplicated: Math.max(0, counts.bytes - contentNew),
  });
  const wish = parts.job.comparison;
  const stored = { bytesNew: contentNew, bytesStored: bytesUploaded };
  const run = { ...nothingStored(parts, snapshot), ...stored, last, earlier, wish };
  const compared = await compareWithLast(run, signal);
  return outcomeOf(parts, {
    snapshotId: snapshot.id,
    sourceReadAt: snapshot.record.startedMs,
    hasReadSource: true,
    files: counts.files,
    bytes: counts.bytes,
    warnings:
      errors.length + errorsMore + told + (foreign === undefined ? 0 : 1) + (packsDamaged > 0 ? 1 : 0),
    progress: parts.report.finished(moment),
    compared: compared && { ...compared, leftOut: summary.leftOut.length > 0 },
    facts: {
      bytes_read: bytesRead,
      bytes_new: bytesNew,
      bytes_uploaded: bytesUploaded,
      duration_ms: Math.round(durationMs),
      from_changes: summary.fromChanges,
    },
  });
}

/**
 * Reports a rule that could not be applied as meant, so that the backup contains less or more. A rule is reported once,
 * even when the run starts over.
 */
function tellOfRule(
  { code, message, hint, details }: SourceError,
  source: string,
  told: Set<string>,
  { report }: JobParts,
): void {
  const text = sentences(message, hint);
  if (told.has(text)) return;
  told.add(text);
  const { path } = details;
  report.problem({ path: typeof path === 'string' ? path : source, code, message: text });
}

function findSource(
  { source }: BackupSpec,
  never: ExcludeOptions['never'],
): { readonly source: ByteString } & Pick<Sources, 'named' | 'notes'> {
  // With the slash, as somebody who configures a link to a directory wants the directory.
  const { paths, named, notes } = resolveSources([`${source}/`], '/', never);
  return { source: paths[0] ?? treePath(source), named, notes };
}

function requestOf(
  { job, place }: JobParts,
  { options }: BackupSpec,
  {
    source,
    named,
    never,
  }: Pick<Sources, 'named'> & { readonly source: ByteString; readonly never: ExcludeOptions['never'] },
): Omit<ArchiveRequest, 'changes'> {
  return {
    repository: place.cached,
    sources: [source],
    named,
    ...madeHere(),
    tags: [...options.tags, ...jobTags(job.id, options.exclude)],
    pinned: false,
    compression: parseCompression(options.compression),
    plain: !options.encryption,
    isolated: !options.deduplication,
    exclude: excludeOf(job.exclude, options.exclude, never),
    parent: 'auto',
    workers: job.workers ?? undefined,
  };
}

/**
 * Digest of the rules. Of the paths in `never` only those inside the source count, in sorted order: jobs for other
 * destinations name them in another order, and unplugging a destination changes nothing.
 */
function rulesOf({ never, ...exclude }: ExcludeOptions, source: ByteString): string {
  const inside = never.map(({ path }) => path).filter((path) => `${path}/`.startsWith(`${source}/`));
  return digestOf({ ...exclude, never: inside.toSorted() });
}

function changesOf(usable: UsableChanges | undefined): Pick<ArchiveRequest, 'changes' | 'parent'> {
  return usable === undefined
    ? { changes: undefined, parent: 'auto' }
    : { changes: usable.changes, parent: { snapshot: usable.parent.id } };
}

function lastTotals(
  { host, sources, plain }: Pick<ArchiveRequest, 'host' | 'sources' | 'plain'>,
  live: readonly Snapshot[],
): ExpectedTotals | undefined {
  return chooseParent(live, { host, paths: sources, plain, kind: 'files' })?.record.counts;
}

function watchArchive(
  { report, place }: JobParts,
  totals: (bytesFound: number) => ExpectedTotals | undefined,
): Omit<ArchiveObserver, 'ruleProblem'> {
  const bytesDone = doneUnderLimit(place.upload);
  let counters: ArchiveCounters | undefined;
  let read = (): ArchiveCounters | undefined => counters;
  let path: string | null = null;
  let isScanning = true;
  /** The phase changes to uploading while the walk goes on, as files are stored meanwhile. */
  const lookAt = (now: ArchiveCounters | undefined): void => {
    if (!isScanning || now === undefined || now.bytesUploaded === 0) return;
    isScanning = false;
    report.phase('uploading');
  };
  report.follow(() => {
    const now = read();
    lookAt(now);
    const moment = momentOf(now, totals(now?.bytesFound ?? 0), path);
    return now === undefined ? moment : { ...moment, bytesDone: bytesDone(now) };
  });
  return {
    live: (next) => {
      read = next;
    },
    phase: (phase) => {
      path = null;
      isScanning = phase === 'scanning';
      report.phase(phase);
    },
    directory: (directory, next) => {
      counters = next;
      path = pathText(directory);
      lookAt(next);
    },
    problem: (problem) => report.problem(problemOf(problem)),
    note: (text) => report.note(text),
  };
}

function momentOf(
  counters: ArchiveCounters | undefined,
  expected: ExpectedTotals | undefined,
  path: string | null,
): Moment {
  const { filesNew = 0, filesChanged = 0, filesUnchanged = 0, filesFailed = 0 } = counters ?? {};
  const { bytesDone = 0, bytesRead = 0, bytesUploaded = 0 } = counters ?? {};
  const files = filesNew + filesChanged + filesUnchanged;
  return {
    files,
    bytes: bytesDone,
    filesDone: files + filesFailed,
    bytesDone,
    filesTotal: expected?.files,
    bytesTotal: expected?.bytes,
    counters: {
      files_new: filesNew,
      files_changed: filesChanged,
      files_unchanged: filesUnchanged,
      files_failed: filesFailed,
      bytes_uploaded: bytesUploaded,
      bytes_deduplicated: Math.max(0, bytesDone - bytesRead),
      current_path: path,
    },
  };
}

/** What backups in this process learned about the trees that they stored, kept while the repository is open. */
const byRepository = new WeakMap<Repository, Map<ByteString, KnownTree>>();

function recallTree(repository: Repository, source: ByteString): KnownTree | undefined {
  return byRepository.get(repository)?.get(source);
}

function keepTree(repository: Repository, source: ByteString, known: KnownTree | undefined): void {
  const trees = byRepository.get(repository) ?? new Map<ByteString, KnownTree>();
  byRepository.set(repository, trees);
  if (known === undefined) trees.delete(source);
  else trees.set(source, known);
}
