import type { Command } from 'commander';
import { holdfast, holdfastThere } from '../../base/holdfast-command.ts';
import { listEntries } from '../../browse/list.ts';
import { summarize } from '../../browse/entries.ts';
import type { ByteString } from '../../base/byte-path.ts';
import type { Snapshot } from '../../repository/snapshots.ts';
import { chooseSnapshot } from './chosen-snapshot.ts';
import type { Context } from '../command/context.ts';
import { entryObject, longLines, shortLine } from './listing.ts';
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
import { sayingOther } from './other-snapshot.ts';
import { lookOf, reportUnreadable, placeIn, splitName, withReading, type Reading } from './reading.ts';

interface LsOptions extends RepositoryOptions, OutputOptions, FilterOptions {
  readonly long?: boolean;
  readonly bytes?: boolean;
  readonly recursive?: boolean;
}

export function define(command: Command, context: Context): void {
  command
    .argument('<snapshot>', 'an id or the beginning of one, latest, or latest~1 for the one before')
    .argument('[path...]', 'directories, by the paths they had; by default what was backed up')
    .optionsGroup('What to show:')
    .option('-l, --long', 'Mode, owner, size and time, like "ls -l"')
    .option('-R, --recursive', 'Include everything below')
    .option('--bytes', 'Sizes in bytes');
  addFilterOptions(command, ONE_SNAPSHOT);
  addRepositoryOptions(command);
  addOutputOptions(command, { json: 'One JSON object for each entry' });
  addExamples(command, [
    [holdfast`ls latest`, 'list what was backed up last'],
    [holdfast`ls -l latest~1 ~/Documents`, 'list a directory as it was one snapshot earlier'],
  ]);
  command.action(async (name: string, paths: readonly string[], options: LsOptions) => {
    const named = splitName(name);
    await withReading(options, context, async (reading) => {
      const snapshot = chooseSnapshot(reading.snapshots, named.snapshot, options, context);
      const typed = named.path === undefined ? paths : [named.path, ...paths];
      const wanted =
        typed.length === 0 ? snapshot.record.paths : typed.map((path) => placeIn(snapshot, path));
      const again = (words: readonly string[]): string => holdfastThere`ls ${words}`;
      await sayingOther(
        command,
        { ...reading, signal: context.signal, again },
        async () => await list(reading, snapshot, wanted, options, context),
      );
    });
  });
}

async function list(
  { trees }: Reading,
  snapshot: Snapshot,
  paths: readonly ByteString[],
  options: LsOptions,
  context: Context,
): Promise<void> {
  const { out, signal } = context;
  const { owners } = snapshot.record;
  const { styles } = lookOf(context);
  const long = longLines({ owners, styles, exactSizes: options.bytes ?? false });
  const reader = trees.reader(snapshot);
  for (const path of paths) {
    const wanted = { path, recursive: options.recursive ?? false, onUnreadable: reportUnreadable(context) };
    for await (const found of listEntries(reader, snapshot, wanted, signal)) {
      const entry = summarize(found.entry);
      if (options.json === true) await out.json(entryObject(found.path, entry, owners));
      else if (options.long === true || options.bytes === true) await out.write(long(found.path, entry));
      else await out.write(shortLine(found.path, entry, styles));
    }
  }
}
