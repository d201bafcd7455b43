/** `holdfast forget --lost`: gives up records that are gone from the storage. */
import { holdfastThere } from '../../base/holdfast-command.ts';
import { findLost, giveUpLost, type Lost } from '../../repository/chains/lost-records.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Context } from '../command/context.ts';
import type { OutputOptions } from '../command/options.ts';
import { printable } from '../terminal/terminal.ts';
import { count, shortId } from '../terminal/wording.ts';

export async function forgetLost(
  repository: Repository,
  options: OutputOptions & { readonly dryRun?: boolean },
  context: Context,
): Promise<void> {
  const lost = await findLost(repository, context.signal);
  const records = lost.map(({ record }) => record);
  if (lost.length > 0 && options.dryRun !== true) await giveUpLost(repository, records, context.signal);
  if (options.json === true) {
    await context.out.json({
      type: 'forget',
      dry_run: options.dryRun ?? false,
      lost: lost.map(({ record: { writer, seq, name }, host }) => ({
        writer,
        number: seq,
        id: name ?? null,
        host: host ?? null,
      })),
    });
    return;
  }
  if (options.quiet === true) return;
  for (const one of lost) await context.out.line(lineOf(one));
  await context.out.line(outcome(lost.length, options.dryRun === true));
}

function lineOf({ record: { writer, seq, name }, host }: Lost): string {
  const what = name === undefined ? 'a snapshot or a list of removals' : shortId(name);
  return printable(`Gone: ${what}, record ${seq} of ${host ?? `writer ${writer.slice(0, 8)}`}`);
}

function outcome(number: number, isDry: boolean): string {
  if (number === 0) return 'Nothing is missing: every snapshot and every list of removals is present.';
  const what = count(number, 'record');
  return isDry
    ? `${what} would be given up.`
    : `${what} given up. To free the space that is no longer needed: ${holdfastThere`prune`}`;
}
