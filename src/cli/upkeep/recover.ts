import type { Command } from 'commander';
import { holdfast, holdfastThere } from '../../base/holdfast-command.ts';
import { recover, type RecoverReport } from '../../repository/check/recover.ts';
import type { Context } from '../command/context.ts';
import { EXIT } from '../command/exit-codes.ts';
import { withRepository } from '../places/open.ts';
import {
  addExamples,
  addOutputOptions,
  addRepositoryOptions,
  type OutputOptions,
  type RepositoryOptions,
} from '../command/options.ts';
import { printable } from '../terminal/terminal.ts';
import { count } from '../terminal/wording.ts';

export function define(command: Command, context: Context): void {
  addRepositoryOptions(command);
  addOutputOptions(command, {
    json: 'The report as a JSON object',
    quiet: 'Print nothing unless some data is unreadable',
  });
  command.addHelpText(
    'after',
    '\nRebuilds the indexes from the packs, restores damaged keys and settings of the repository from their second\ncopies, and removes records that nobody can read, or that somebody planted with a write-only key or add-only\naccess. It is safe to run on an intact repository.',
  );
  addExamples(command, [
    [`${holdfast`recover`} && ${holdfast`check`}`, 'repair damaged indexes or keys found by "check"'],
  ]);
  command.action(async (options: RepositoryOptions & OutputOptions) => {
    await withRepository(options, context, async (repository) => {
      const report = await recover(repository, context.signal);
      if (report.unreadable.length > 0) context.exitCode = EXIT.failed;
      if (options.json === true) await context.out.json(reportObject(report));
      else if (options.quiet !== true || report.unreadable.length > 0)
        await context.out.write(reportText(report));
    });
  });
}

function reportText({
  packs,
  chunks,
  written,
  superseded,
  keptFromIndex,
  unreadable,
  putBack,
  removed,
}: RecoverReport): string {
  const lines = [
    `Indexed ${count(packs, 'pack')} with ${count(chunks, 'piece')} of data in ${count(written.length, 'new index object')}; ${count(superseded, 'older one')} ${superseded === 1 ? 'is' : 'are'} no longer used.`,
  ];
  if (keptFromIndex.length > 0) {
    lines.push(
      `${count(keptFromIndex.length, 'pack')} with a damaged directory ${keptFromIndex.length === 1 ? 'was' : 'were'} indexed from an older index.`,
    );
  }
  for (const key of putBack) lines.push(`Restored from its second copy: ${printable(key)}`);
  for (const key of removed) lines.push(`Removed, because it is invalid: ${printable(key)}`);
  if (removed.some((key) => key.startsWith('trash/')))
    lines.push(
      'A removed record listed deleted snapshots: check the list of snapshots, and delete again what should go.',
    );
  for (const { name, reason } of unreadable) lines.push(`Unreadable: pack ${name}: ${printable(reason)}`);
  lines.push(
    unreadable.length === 0
      ? `Verify the result with: ${holdfastThere`check --read-data`}`
      : `To see which files are affected: ${holdfastThere`check`}. A new backup stores again whatever its sources still have.`,
  );
  return `${lines.join('\n')}\n`;
}

function reportObject({
  packs,
  chunks,
  written,
  superseded,
  keptFromIndex,
  unreadable,
  putBack,
  removed,
}: RecoverReport): object {
  return {
    type: 'recover',
    packs,
    chunks,
    index_objects_written: written.length,
    index_objects_superseded: superseded,
    packs_kept_from_index: keptFromIndex,
    packs_unreadable: unreadable,
    objects_put_back: putBack,
    objects_removed: removed,
  };
}
