/** Runs a check as a job. Damage makes the job fail, so that nobody overlooks it. */
import { RepositoryError } from '../base/errors.ts';
import { holdfastElsewhere, holdfastThere } from '../base/holdfast-command.ts';
import type { CheckSpec } from '../jobs/job.ts';
import type { ReadData } from '../repository/check/check-packs.ts';
import type { CheckReport, Finding } from '../repository/check/check-report.ts';
import { check, planCheck } from '../repository/check/check.ts';
import { markDamaged } from '../repository/check/damaged-packs.ts';
import { outcomeOf, type JobParts } from './job-parts.ts';
import type { EngineOutcome } from './protocol.ts';
import type { Moment } from './report.ts';

/** @throws {RepositoryError} CORRUPT_DATA when something is damaged, after every finding was reported */
export async function runCheck(
  parts: JobParts,
  spec: CheckSpec,
  signal: AbortSignal,
): Promise<EngineOutcome> {
  const { place, report } = parts;
  const { repository } = place;
  report.phase('verifying');
  const readData = readDataOf(spec.read_data);
  const plan = await planCheck(repository, { readData }, signal);
  let read = { packs: 0, bytes: 0 };
  report.follow(() => momentOf(read, { packs: plan.packsToRead.length, bytes: plan.bytesToRead }));
  const result = await check(
    repository,
    { readData, ...(parts.job.workers === null ? {} : { workers: parts.job.workers }) },
    {
      phase: () => {},
      packRead: (done) => {
        read = done;
      },
      finding: () => {},
    },
    signal,
  );
  for (const finding of result.findings) tell(parts, finding);
  if (result.packsDamaged.size > 0) {
    const { refusal } = await markDamaged(repository, result.packsDamaged, signal);
    if (refusal !== undefined) throw damaged(result, refusal);
  }
  if (result.status === 'damaged') throw damaged(result);
  return outcomeOf(parts, {
    files: result.counts.files,
    bytes: result.counts.bytesRead,
    warnings: result.findings.filter(({ severity }) => severity !== 'note').length + result.findingsMore,
    progress: report.finished(momentOf({ packs: result.counts.packsRead, bytes: result.counts.bytesRead })),
    storedBytes: result.counts.packBytes,
    facts: factsOf(result),
  });
}

/** @param share of all packs, 0 to 1 */
function readDataOf(share: number): ReadData {
  if (!(share > 0)) return false;
  return share >= 1 ? 'all' : { percent: share * 100 };
}

/** Counts packs as files, as a check works through packs. */
function momentOf(
  done: { readonly packs: number; readonly bytes: number },
  totals?: { readonly packs: number; readonly bytes: number },
): Moment {
  // Without data to read there is no total.
  const known = totals !== undefined && totals.packs > 0;
  return {
    files: done.packs,
    bytes: done.bytes,
    filesDone: done.packs,
    bytesDone: done.bytes,
    filesTotal: known ? totals.packs : undefined,
    bytesTotal: known ? totals.bytes : undefined,
  };
}

function tell({ report }: JobParts, { severity, object, what, snapshots, filesTotal }: Finding): void {
  const affected =
    snapshots.length === 0 ? '' : ` (${filesTotal} files in ${snapshots.length} snapshots are affected)`;
  if (severity === 'note') report.note(`${object}: ${what}${affected}`);
  else report.problem({ path: object, code: severity.toUpperCase(), message: `${what}${affected}` });
}

/** @param refusal why the damaged packs could not be marked */
function damaged(result: CheckReport, refusal?: Error): RepositoryError {
  const errors = result.findings.filter(({ severity }) => severity === 'error').length;
  return new RepositoryError(
    'CORRUPT_DATA',
    `The check found damage in ${errors} stored ${errors === 1 ? 'object' : 'objects'}`,
    {
      hint:
        refusal === undefined
          ? `A new backup of the sources stores missing data again, and "${holdfastThere`check`}" lists the affected files. Check the drive.`
          : `Backups still rely on the damaged packs, which could not be marked (${refusal.message}): run "${holdfastElsewhere`check`}" on a machine that can change the repository. Check the drive.`,
      details: { ...factsOf(result), errors },
    },
  );
}

function factsOf({ counts, durationMs, packsProven }: CheckReport): Record<string, number> {
  return {
    snapshots: counts.snapshots,
    packs: counts.packs,
    packs_read: counts.packsRead,
    packs_proven: packsProven.length,
    bytes_read: counts.bytesRead,
    bytes_stored: counts.packBytes,
    chunks: counts.chunks,
    packs_unreferenced: counts.packsUnreferenced,
    duration_ms: Math.round(durationMs),
  };
}
