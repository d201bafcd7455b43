import type { Command } from 'commander';
import { holdfast } from '../../base/holdfast-command.ts';
import { isJobTag, requireOwnTags } from '../../base/job-tag.ts';
import type { SnapshotRecord } from '../../format/records.ts';
import type { Repository } from '../../repository/repository.ts';
import { rewriteSnapshot } from '../../repository/renew/replace-snapshot.ts';
import { listSnapshots } from '../../repository/snapshots.ts';
import { namedSnapshot } from '../snapshots/chosen-snapshot.ts';
import type { Context } from '../command/context.ts';
import { withRepository } from '../places/open.ts';
import {
  addExamples,
  addOutputOptions,
  addRepositoryOptions,
  collect,
  collectTags,
  commaList,
  usage,
  type OutputOptions,
  type RepositoryOptions,
} from '../command/options.ts';
import { snapshotsToChange } from '../snapshots/own-snapshots.ts';
import { warnOfDamaged } from '../snapshots/reading.ts';
import { printable } from '../terminal/terminal.ts';
import { shortId } from '../terminal/wording.ts';

interface TagOptions extends RepositoryOptions, OutputOptions {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
  readonly set?: readonly string[];
  readonly pin?: boolean;
  readonly unpin?: boolean;
}

export function define(command: Command, context: Context): void {
  command
    .argument('<snapshot...>', 'ids or the beginnings of ids, or latest')
    .optionsGroup('What to change:')
    .option('--add <tags>', 'Add tags, separated by commas (repeatable)', collectTags)
    .option('--remove <tags>', 'Remove tags (repeatable)', collectTags)
    .option('--set <tags>', 'Replace all tags with these; "" for none', collect)
    .option('--pin', 'Protect the snapshot from the rules of "forget"')
    .option('--unpin', 'Let the rules of "forget" apply again');
  addRepositoryOptions(command);
  addOutputOptions(command, {
    json: 'One JSON object for each changed snapshot',
    quiet: 'Print errors only',
  });
  command.addHelpText(
    'after',
    '\nSnapshots never change: the snapshot is stored again with the new tags and a new id, replacing the old one.',
  );
  addExamples(command, [[holdfast`tag --add before-upgrade --pin latest`, 'tag and keep a snapshot']]);
  command.action(async (names: readonly string[], options: TagOptions) => {
    requireChange(options);
    await withRepository(options, context, async (repository) => {
      await tag(repository, names, options, context);
    });
  });
}

function requireChange({ add, remove, set, pin, unpin }: TagOptions): void {
  if (set !== undefined && (add !== undefined || remove !== undefined))
    throw usage('--set cannot be combined with --add or --remove', 'Give all tags with --set.');
  if (pin === true && unpin === true)
    throw usage('--pin and --unpin cannot be combined', 'Use only one of them.');
  if (add === undefined && remove === undefined && set === undefined && pin !== true && unpin !== true)
    throw usage('Nothing to change was given', 'Use --add, --remove, --set, --pin or --unpin.');
  requireOwnTags([add, remove, set].flatMap(commaList));
}

async function tag(
  repository: Repository,
  names: readonly string[],
  options: TagOptions,
  context: Context,
): Promise<void> {
  const { signal, out } = context;
  const list = await listSnapshots(repository, signal);
  warnOfDamaged(list, context);
  const chosen = new Set(
    names.map((name) => namedSnapshot(snapshotsToChange(list, name, {}, 'tag'), name, context)),
  );
  for (const old of chosen) {
    const changes = changesOf(old.record, options);
    const { id, record } =
      changes === undefined ? old : await rewriteSnapshot(repository, old, changes, signal);
    if (options.json === true)
      await out.json({
        type: 'tagged',
        old_snapshot_id: old.id,
        snapshot_id: id,
        tags: record.tags,
        pinned: record.pinned,
      });
    else if (options.quiet !== true) {
      const became = id === old.id ? 'is unchanged' : `is now ${shortId(id)}`;
      await out.line(`${shortId(old.id)}  ${became}  ${shown(record)}`);
    }
  }
}

type Changes = Pick<SnapshotRecord, 'tags' | 'pinned'>;

/** The changes to a snapshot; undefined when it is already as wanted. */
function changesOf(record: SnapshotRecord, options: TagOptions): Changes | undefined {
  const removed = new Set(commaList(options.remove));
  const wanted =
    options.set === undefined
      ? [...record.tags, ...commaList(options.add)].filter((word) => !removed.has(word))
      : [...record.tags.filter(isJobTag), ...commaList(options.set)];
  const tags = [...new Set(wanted)];
  const pinned = options.pin === true || (record.pinned && options.unpin !== true);
  const same = pinned === record.pinned && tags.join(',') === record.tags.join(',');
  return same ? undefined : { tags, pinned };
}

function shown({ tags, pinned }: Changes): string {
  const words = [...tags.map(printable), ...(pinned ? ['(pinned)'] : [])];
  return words.length === 0 ? 'without tags' : words.join(', ');
}
