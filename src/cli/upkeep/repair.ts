/** Restores data that a check found to be lost, from another repository. */
import { formatBytes } from '../../base/units.ts';
import type { CopyObserver } from '../../copier/copy.ts';
import { repairFrom } from '../../copier/repair.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Context } from '../command/context.ts';
import { openProgress } from '../command/open-progress.ts';
import type { OutputOptions } from '../command/options.ts';
import { printable } from '../terminal/terminal.ts';
import { count, shortId } from '../terminal/wording.ts';

/** @param damaged names of the packs whose content must not be relied on */
export async function repair(
  repository: Repository,
  other: Repository,
  damaged: ReadonlySet<string>,
  options: OutputOptions,
  context: Context,
): Promise<void> {
  const { out, stderr, signal } = context;
  const progress = openProgress('Repairing', options, context);
  let [bytesDone, bytesTotal] = [0, 0];
  const show = (): void =>
    progress.update({ phase: '', filesDone: 0, filesTotal: null, bytesDone, bytesTotal, errors: 0 });
  const observer: CopyObserver = {
    begin: (_snapshot, bytes) => {
      bytesTotal += bytes;
      show();
    },
    read: (bytes) => {
      bytesDone += bytes;
      show();
    },
    copied: () => {},
    failed: ({ id }, error) => {
      stderr.write(`The copy of ${shortId(id)} cannot help: ${printable(error.message)}\n`);
    },
  };
  const summary = await repairFrom({ repository, other, damaged }, observer, signal).finally(() =>
    progress.finish(),
  );
  const { bytes, lost, broken, packsReplaced } = summary;
  if (options.json === true) {
    await out.json({
      type: 'repair',
      bytes,
      lost_chunks: lost,
      broken_snapshots: broken,
      packs_replaced: packsReplaced,
    });
    return;
  }
  if (options.quiet === true) return;
  const rest =
    lost === 0
      ? 'Nothing is missing any more.'
      : `${count(lost, 'piece')} of data in ${count(broken.length, 'snapshot')} ${lost === 1 ? 'is' : 'are'} in neither repository.`;
  await out.line(
    `Repaired: ${formatBytes(bytes)} stored again, ${count(packsReplaced.length, 'damaged pack')} replaced. ${rest}`,
  );
}
