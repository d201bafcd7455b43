/** Tells a running agent what this command has done, so that what the agent says of backups takes it into account. */
import { resolve } from 'node:path';
import type { ArchiveSummary } from '../../archiver/archive.ts';
import { HoldfastError } from '../../base/errors.ts';
import { pathText } from '../../base/tree-path.ts';
import type { DoneByCommand } from '../../control/calls.ts';
import type { CheckReport } from '../../repository/check/check-report.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Context } from '../command/context.ts';
import { printable } from '../terminal/terminal.ts';
import { askAgent } from './ask-agent.ts';

/** Problems that are told; the snapshot has all of them. */
const MOST_PROBLEMS = 100;

/** A backup of one whole source. */
export async function tellOfBackup(
  word: string,
  { id }: Pick<Repository, 'id'>,
  { snapshot, emptied, leftOut, durationMs }: ArchiveSummary,
  context: Context,
): Promise<void> {
  // Whether that is as it should be, only the agent's own backup finds out.
  if (emptied.length > 0 || leftOut.length > 0) return;
  const { counts, errors, startedMs } = snapshot.record;
  await tell(
    {
      type: 'backup',
      repository_id: id,
      source: resolve(word),
      snapshot_id: snapshot.id,
      began_at: startedMs,
      duration_ms: Math.round(durationMs),
      files: counts.files,
      files_failed: counts.failed,
      bytes: counts.bytes,
      problems: errors
        .slice(0, MOST_PROBLEMS)
        .map(({ path, code, message }) => ({ path: pathText(path), code, message })),
    },
    context,
  );
}

/** A check that found damage, or that read all data and found none. */
export async function tellOfCheck(
  { id, clock }: Pick<Repository, 'id' | 'clock'>,
  { status, findings, durationMs }: CheckReport,
  isWhole: boolean,
  context: Context,
): Promise<void> {
  if (status !== 'damaged' && !isWhole) return;
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const message = `A check on the command line found damage in ${errors} stored ${errors === 1 ? 'object' : 'objects'}. Check the drive, and back up again.`;
  await tell(
    {
      type: 'check',
      repository_id: id,
      read_data: isWhole ? 1 : 0,
      began_at: Math.round(clock.now() - durationMs),
      duration_ms: Math.round(durationMs),
      damage: status === 'damaged' ? { message, details: { errors } } : null,
    },
    context,
  );
}

/** The work of the command is done, so it does not fail where an agent cannot be told. Without one there is nobody to tell. */
async function tell(done: DoneByCommand, context: Context): Promise<void> {
  try {
    await askAgent(context, 'done_by_command', done);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    if (error.code !== 'NO_AGENT')
      context.stderr.write(
        printable(`Note: the running agent does not know of this: ${error.message}.`) + '\n',
      );
  }
}
