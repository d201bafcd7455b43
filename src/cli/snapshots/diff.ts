import type { Command } from 'commander';
import { holdfast } from '../../base/holdfast-command.ts';
import { NO_CHANGES, countChange, diffSnapshots, type DiffSide } from '../../browse/diff.ts';
import { asByteString } from '../../base/byte-path.ts';
import type { Snapshot } from '../../repository/snapshots.ts';
import { chooseSnapshot } from './chosen-snapshot.ts';
import type { Context } from '../command/context.ts';
import { CHANGE_SIGNS, changeLine, changeObject, totalsObject, totalsText } from './listing-changes.ts';
import {
  ONE_SNAPSHOT,
  addExamples,
  addFilterOptions,
  addOutputOptions,
  addRepositoryOptions,
  type FilterOptions,
  type OutputOptions,
  type RepositoryOptions,
} from '../command/options.ts';
import { lookOf, placeIn, splitName, withReading } from './reading.ts';

interface DiffCommandOptions extends RepositoryOptions, OutputOptions, FilterOptions {
  readonly directoryTimes?: boolean;
}

export function define(command: Command, context: Context): void {
  command
    .argument('<from>', 'the older snapshot; SNAPSHOT:PATH for a part of it')
    .argument('<to>', 'the newer snapshot; SNAPSHOT:PATH for a part of it')
    .optionsGroup('What to show:')
    .option('--directory-times', 'Include directories where only the time differs');
  addFilterOptions(command, ONE_SNAPSHOT);
  addRepositoryOptions(command);
  addOutputOptions(command, {
    json: 'One JSON object for each change, and one with totals',
    quiet: 'Only the totals',
  });
  addExamples(command, [
    [holdfast`diff latest~1 latest`, 'see what changed between the last two'],
    [holdfast`diff 1a2b3c4d:/etc latest:/etc`, 'compare a single directory'],
  ]);
  command.action(async (from: string, to: string, options: DiffCommandOptions) => {
    await withReading(options, context, async ({ trees, snapshots }) => {
      const { out, signal } = context;
      const { styles } = lookOf(context);
      const left = sideOf(from, snapshots, options, context);
      const right = sideOf(to, snapshots, options, context);
      const rules = { directoryTimes: options.directoryTimes ?? false };
      let totals = NO_CHANGES;
      for await (const change of diffSnapshots(trees, left, right, rules, signal)) {
        totals = countChange(totals, change);
        if (options.json === true) await out.json(changeObject(change, left, right));
        else if (options.quiet !== true) await out.write(changeLine(change, styles));
      }
      if (options.json === true) await out.json(totalsObject(totals, left, right));
      else {
        const text = totalsText(totals);
        const listed = totals !== NO_CHANGES && options.quiet !== true;
        await out.write(listed ? `\n${text}${styles.dim(`(${CHANGE_SIGNS})`)}\n` : text);
      }
    });
  });
}

function sideOf(
  name: string,
  snapshots: readonly Snapshot[],
  options: FilterOptions,
  context: Context,
): DiffSide {
  const { snapshot: named, path } = splitName(name);
  const snapshot = chooseSnapshot(snapshots, named, options, context);
  return { snapshot, path: path === undefined ? asByteString('/') : placeIn(snapshot, path) };
}
