/** Applies retention and prunes, as a job. */
import type { PruneSpec } from '../jobs/job.ts';
import { lacksFiles, planForgetting, type RetentionRules } from '../repository/retention/forgetting.ts';
import type { PackFate } from '../repository/prune/prune-plan.ts';
import { storeKeeps } from '../repository/prune/prune-protected.ts';
import { prune, type PruneResult } from '../repository/prune/prune.ts';
import { forgetSnapshots } from '../repository/snapshots.ts';
import { listEverySnapshot } from '../repository/chains/whole-list.ts';
import { type JobParts, outcomeOf } from './job-parts.ts';
import type { EngineOutcome } from './protocol.ts';
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
  const { skipped } = result.repack;
  if (skipped.length > 0)
    report.note(
      `${skipped.length} packs are damaged and could not be rewritten (${skipped[0]?.reason}): run a check.`,
    );
  for (const line of storeKeeps(result)) report.note(line);
  return outcomeOf(parts, {
    bytes: result.removedBytes,
    warnings: plan.unreadable.length + skipped.length,
    progress: report.finished(momentOf(removed)),
    storedBytes: plan.packBytes - result.removedBytes + result.repack.writtenBytes,
    facts: { ...forgotten, ...factsOf(result) },
  });
}

/** Forgets the snapshots that no rule keeps. Snapshots of a source from before an open alarm are never forgotten. */
async function forget(
  { place: { repository }, report }: JobParts,
  rules: RetentionRules,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  const { live } = await listEverySnapshot(repository, 'the rules remove nothing', signal);
  const plan = planForgetting(
    live.map(({ id, record, storedBy, storedMs }) => ({
      ...record,
      id,
      partial: lacksFiles(record),
      storedBy,
      storedMs,
    })),
    rules,
    repository.clock.now(),
  );
  if (plan.isUnruled) {
    report.note('The retention settings have no rules, so every snapshot is kept.');
    return { snapshots_forgotten: 0 };
  }
  if (plan.frozen > 0)
    report.note(`${plan.frozen} snapshots from before an alarm are kept until you answer it.`);
  if (plan.future > 0)
    report.note(`${plan.future} snapshots have a time in the future and are kept: a clock is or was wrong.`);
  const countingOn = [...plan.kept.keys()];
  await forgetSnapshots(repository, plan.remove, 'removed by rules', signal, { countingOn });
  return {
    snapshots_forgotten: plan.remove.length,
    snapshots_kept: live.length - plan.remove.length,
    snapshots_frozen: plan.frozen,
  };
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
    packs_protected: result.protected?.packs ?? 0,
    bytes_protected: result.protected?.bytes ?? 0,
    snapshots_protected: result.protected?.snapshots ?? 0,
    grace_seconds: plan.settings.graceSeconds,
  };
}

function bytesOf(packs: readonly PackFate[]): number {
  return packs.reduce((sum, { bytes }) => sum + bytes, 0);
}
