/** Retention and prune as a job. */
import { bytesOfText, textOfBytes, type ByteString } from '../base/byte-path.ts';
import type { PruneSpec } from '../jobs/job.ts';
import type { PackFate } from '../repository/prune-plan.ts';
import { prune, type PruneResult } from '../repository/prune.ts';
import { planRetention, type KeepCount, type RetentionPolicy } from '../repository/retention.ts';
import { forgetSnapshots, listSnapshots, type Snapshot } from '../repository/snapshots.ts';
import { whereItLies } from './empty-source.ts';
import { outcomeOf, type JobParts } from './job-parts.ts';
import type { EngineOutcome, RetentionRules } from './protocol.ts';
import type { Moment } from './report.ts';

/** @throws {RepositoryError} REPOSITORY_LOCKED, REFUSED, CORRUPT_DATA */
export async function runPrune(
  parts: JobParts,
  spec: PruneSpec,
  signal: AbortSignal,
): Promise<EngineOutcome> {
  const { job, place, report } = parts;
  report.phase('pruning');
  const forgotten =
    spec.apply_retention && job.retention !== null ? await forget(parts, job.retention, signal) : undefined;
  let removed = { packs: 0, bytes: 0 };
  report.follow(() => momentOf(removed));
  const result = await prune(
    place.repository,
    {},
    {
      phase: () => {},
      removed: ({ packs, bytes }) => {
        removed = { packs: removed.packs + packs, bytes: removed.bytes + bytes };
      },
    },
    signal,
  );
  const { plan } = result;
  if (plan.unreadable.length > 0)
    report.note(`${plan.unreadable.length} packs cannot be read and are left alone: run a check.`);
  return outcomeOf(parts, {
    bytes: result.removedBytes,
    warnings: plan.unreadable.length,
    progress: report.finished(momentOf(removed)),
    storedBytes: plan.packBytes - result.removedBytes + result.repack.writtenBytes,
    facts: { ...forgotten, ...factsOf(result) },
  });
}

/** Forgets what no rule keeps, but nothing of a source from before an alarm about it that waits for an answer. */
async function forget(
  { place: { repository }, report }: JobParts,
  rules: RetentionRules,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const policy = policyOf(rules);
  if (policy === undefined) {
    report.note('The retention settings say nothing about what to keep, so every snapshot stays.');
    return { snapshots_forgotten: 0 };
  }
  const { live } = await listSnapshots(repository, signal);
  const inputs = live.map(({ id, record }) => ({
    id,
    timeMs: record.startedMs,
    host: record.host,
    paths: record.paths.map(textOfBytes),
    user: record.user,
    tags: record.tags,
    pinned: record.pinned,
    partial: record.status === 'partial',
  }));
  const plan = planRetention(inputs, policy, repository.clock.now());
  const frozenIds = frozenSnapshots(live, rules.frozen);
  const remove = plan.remove.filter((id) => !frozenIds.has(id));
  const frozen = plan.remove.length - remove.length;
  if (frozen > 0)
    report.note(`${frozen} snapshots from before an alarm are not forgotten until it has been answered.`);
  if (plan.future.length > 0)
    report.note(
      `${plan.future.length} snapshots bear a time in the future and are kept: a clock is or was wrong.`,
    );
  await forgetSnapshots(repository, remove, 'removed by rules', signal);
  return {
    snapshots_forgotten: remove.length,
    snapshots_kept: live.length - remove.length,
    snapshots_frozen: frozen,
  };
}

/** Those with anything in them of a source that an alarm is about, from before the alarm. */
function frozenSnapshots(live: readonly Snapshot[], frozen: RetentionRules['frozen']): ReadonlySet<string> {
  const freezes = frozen.map(({ source, before }) => ({
    before,
    paths: new Set([source, whereItLies(source)].map(bytesOfText)),
  }));
  const isFrozen = ({ record }: Snapshot): boolean =>
    freezes.some(
      ({ before, paths }) =>
        record.startedMs < before &&
        record.paths.some((path) =>
          [...paths].some((source) => isWithin(path, source) || isWithin(source, path)),
        ),
    );
  return new Set(live.filter(isFrozen).map(({ id }) => id));
}

function isWithin(path: ByteString, above: ByteString): boolean {
  return path === above || above === '/' || path.startsWith(`${above}/`);
}

/** Undefined when no rule is stated. */
function policyOf(rules: RetentionRules): RetentionPolicy | undefined {
  const counts = {
    keepLast: rules.keep_last,
    keepHourly: rules.keep_hourly,
    keepDaily: rules.keep_daily,
    keepWeekly: rules.keep_weekly,
    keepMonthly: rules.keep_monthly,
    keepYearly: rules.keep_yearly,
  };
  const stated: Record<string, KeepCount> = {};
  for (const [field, count] of Object.entries(counts)) if (count !== null && count > 0) stated[field] = count;
  if (rules.keep_within === null && Object.keys(stated).length === 0) return undefined;
  return { ...stated, ...(rules.keep_within === null ? {} : { keepWithin: rules.keep_within }) };
}

function momentOf({ packs, bytes }: { readonly packs: number; readonly bytes: number }): Moment {
  return {
    files: packs,
    bytes,
    filesDone: packs,
    bytesDone: bytes,
    filesTotal: undefined,
    bytesTotal: undefined,
  };
}

function factsOf(result: PruneResult): Record<string, number> {
  const { plan, repack } = result;
  return {
    packs_removed: result.removedPacks,
    bytes_removed: result.removedBytes,
    snapshots_removed: result.removedSnapshots,
    packs_marked: result.markedPacks,
    bytes_marked: result.markedBytes,
    packs_waiting: plan.waiting.length,
    bytes_waiting: bytesOf(plan.waiting),
    packs_revived: result.revivedPacks,
    packs_repacked: repack.done.length,
    bytes_repacked: repack.writtenBytes,
    grace_seconds: plan.settings.graceSeconds,
  };
}

function bytesOf(packs: readonly PackFate[]): number {
  return packs.reduce((sum, { bytes }) => sum + bytes, 0);
}
