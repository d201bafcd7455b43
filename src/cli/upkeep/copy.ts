import type { Command } from 'commander';
import { holdfast } from '../../base/holdfast-command.ts';
import { parseCompression } from '../../codec/compress.ts';
import { formatBytes, localTime } from '../../base/units.ts';
import { copySnapshots, missingIn, type CopyObserver } from '../../copier/copy.ts';
import type { Repository } from '../../repository/repository.ts';
import { listSnapshots, type Snapshot } from '../../repository/snapshots.ts';
import { chooseSnapshot, filterSnapshots, requireSome } from '../snapshots/chosen-snapshot.ts';
import type { Context } from '../command/context.ts';
import { EXIT } from '../command/exit-codes.ts';
import { nameInHints } from '../places/chosen-place.ts';
import { openOther, withRepository } from '../places/open.ts';
import { openProgress } from '../command/open-progress.ts';
import {
  ALL_SNAPSHOTS,
  addExamples,
  addFilterOptions,
  addOutputOptions,
  addRepositoryOptions,
  fromOptions,
  usage,
  type FilterOptions,
  type FromOptions,
  type OutputOptions,
  type RepositoryOptions,
} from '../command/options.ts';
import { warnOfDamaged } from '../snapshots/reading.ts';
import { givenByOptions, takeFromEnvironment } from '../places/secret.ts';
import { jsonLine, printable } from '../terminal/terminal.ts';
import { count, shortId } from '../terminal/wording.ts';

interface CopyOptions extends RepositoryOptions, OutputOptions, FilterOptions, FromOptions {
  readonly from?: string;
  readonly compression: string;
  readonly dryRun?: boolean;
}

export function define(command: Command, context: Context): void {
  command
    .argument('[snapshot...]', 'ids or the beginnings of ids, or latest; all snapshots if left out')
    .optionsGroup('Where from:')
    .option('--from <dir>', 'The repository to copy from: a directory, a URL or a destination’s name')
    .option('--from-password-file <file>', 'Its passphrase, if it differs')
    .option('--from-password-command <command>', 'The same, from a command')
    .optionsGroup('How:')
    .option('--compression <how>', 'none, auto, zstd, or zstd:1 to zstd:19', 'zstd')
    .option('-n, --dry-run', 'Only show what would be copied');
  addFilterOptions(command, ALL_SNAPSHOTS);
  addRepositoryOptions(command);
  addOutputOptions(command, {
    json: 'Each copied snapshot and the result as JSON, one object on each line',
    quiet: 'Print errors only',
  });
  command.addHelpText(
    'after',
    `\nSnapshots that the target already has are skipped. All data is read, verified, and\nencrypted with the keys of the target. A repository created with "${holdfast`init --like DIR`}"\nshares data between copies and its own backups.`,
  );
  addExamples(command, [
    [holdfast`copy --from /mnt/backup -r /mnt/second`, 'copy everything the second one does not have yet'],
  ]);
  command.action(async (names: readonly string[], options: CopyOptions) => {
    const { from: location } = options;
    if (location === undefined)
      throw usage('It is not clear what to copy from', 'Give the repository with --from DIR.');
    // Read from a copy of the environment, since opening the first repository removes the passphrase from the environment.
    const fallback = givenByOptions(options) ?? takeFromEnvironment({ ...context.env });
    await withRepository(options, context, async (to) => {
      const given = givenByOptions(fromOptions(options));
      const from = await openOther(location, given, fallback, context);
      try {
        await run({ from, to, names }, options, context);
      } finally {
        await from.close();
      }
    });
  });
}

interface CopyPlace {
  readonly from: Repository;
  readonly to: Repository;
  readonly names: readonly string[];
}

async function run({ from, to, names }: CopyPlace, options: CopyOptions, context: Context): Promise<void> {
  const { signal, out } = context;
  if (from.id === to.id)
    throw usage('Source and target are the same repository', 'Use different repositories for --from and -r.');
  nameInHints(options.from);
  const list = await listSnapshots(from, signal);
  warnOfDamaged(list, context);
  const wanted =
    names.length === 0
      ? filterSnapshots(list.live, options)
      : [...new Set(names.map((name) => chooseSnapshot(list.live, name, options, context, 'filtered')))];
  if (names.length === 0) requireSome(wanted, list.live, options, 'Nothing was copied');
  nameInHints(options.repository);
  const snapshots = missingIn((await listSnapshots(to, signal)).live, wanted);
  const thereBefore = wanted.length - snapshots.length;
  if (options.dryRun === true) {
    await showPlan(snapshots, thereBefore, options, context);
    return;
  }
  const progress = openProgress('Copying', options, context);
  const observer = watch(snapshots.length, progress.update.bind(progress), (snapshot, made, error) => {
    progress.clear();
    tell(snapshot, made, error, options, context);
  });
  const summary = await copySnapshots(
    { from, to, snapshots, compression: parseCompression(options.compression) },
    observer,
    signal,
  ).finally(() => progress.finish());
  const there = thereBefore + summary.there;
  // If snapshots were named, unreadable ones are not among them.
  const lacking = names.length === 0 ? list.damaged.length : 0;
  if (summary.failed + lacking > 0) context.exitCode = EXIT.partial;
  if (options.json === true) {
    await out.json({
      type: 'copy',
      copied: summary.copied,
      failed: summary.failed,
      already_there: there,
      bytes_new: summary.bytesNew,
      bytes_uploaded: summary.bytesUploaded,
    });
  } else if (options.quiet !== true) {
    const failed = summary.failed === 0 ? '' : `, ${summary.failed} not`;
    await out.line(
      `${count(summary.copied, 'snapshot')} copied${failed}, ${there} there already; ` +
        `${formatBytes(summary.bytesNew)} new, stored as ${formatBytes(summary.bytesUploaded)}.`,
    );
  }
}

type Update = ReturnType<typeof openProgress>['update'];

function watch(
  total: number,
  update: Update,
  ended: (snapshot: Snapshot, made: Snapshot | undefined, error: Error | undefined) => void,
): CopyObserver {
  let [done, errors, bytesDone, bytesTotal] = [0, 0, 0, 0];
  const show = (): void =>
    update({ phase: '', filesDone: done, filesTotal: total, bytesDone, bytesTotal, errors });
  const end = (snapshot: Snapshot, made: Snapshot | undefined, error: Error | undefined): void => {
    done += 1;
    ended(snapshot, made, error);
    show();
  };
  return {
    begin: (_snapshot, bytes) => {
      [bytesDone, bytesTotal] = [0, bytes];
      show();
    },
    read: (bytes) => {
      bytesDone += bytes;
      show();
    },
    copied: (snapshot, made) => end(snapshot, made, undefined),
    failed: (snapshot, error) => {
      errors += 1;
      end(snapshot, undefined, error);
    },
  };
}

/** Reports each snapshot at once: those copied before an interruption stay. */
function tell(
  snapshot: Snapshot,
  made: Snapshot | undefined,
  error: Error | undefined,
  options: CopyOptions,
  { out, stderr }: Context,
): void {
  if (error !== undefined)
    stderr.write(`${shortId(snapshot.id)} was not copied: ${printable(error.message)}\n`);
  if (options.json === true)
    out.pushNow(jsonLine({ type: 'copied', snapshot_id: snapshot.id, copy_id: made?.id ?? null }));
  else if (options.quiet !== true && made !== undefined)
    out.pushNow(
      `${shortId(snapshot.id)}  is now ${shortId(made.id)}  ${localTime(snapshot.record.startedMs)}\n`,
    );
}

async function showPlan(
  snapshots: readonly Snapshot[],
  there: number,
  options: CopyOptions,
  { out }: Context,
): Promise<void> {
  if (options.json === true) {
    await out.json({ type: 'plan', snapshot_ids: snapshots.map(({ id }) => id), already_there: there });
    return;
  }
  for (const { id, record } of snapshots) await out.line(`${shortId(id)}  ${localTime(record.startedMs)}`);
  await out.line(`${count(snapshots.length, 'snapshot')} would be copied, ${there} there already.`);
}
