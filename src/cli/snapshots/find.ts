import type { Command } from 'commander';
import { holdfast, holdfastThere } from '../../base/holdfast-command.ts';
import type { FindQuery } from '../../browse/find-query.ts';
import { findEntries } from '../../browse/find.ts';
import { deletedVersions, foundVersions, type FoundVersion } from '../../browse/found-versions.ts';
import { parseSize } from '../../base/units.ts';
import type { EntryType } from '../../format/tree.ts';
import type { Snapshot } from '../../repository/snapshots.ts';
import { chooseSnapshot, filterSnapshots, requireSome } from './chosen-snapshot.ts';
import type { Context } from '../command/context.ts';
import { noteOthers } from '../places/elsewhere.ts';
import { foundObject, foundTable } from './listing-versions.ts';
import {
  ALL_SNAPSHOTS,
  addExamples,
  addFilterOptions,
  addOutputOptions,
  addRepositoryOptions,
  collect,
  parseWhen,
  usage,
  type FilterOptions,
  type OutputOptions,
  type RepositoryOptions,
} from '../command/options.ts';
import { lookOf, reportUnreadable, withReading } from './reading.ts';
import { count } from '../terminal/wording.ts';

interface FindOptions extends RepositoryOptions, OutputOptions, FilterOptions {
  readonly ignoreCase?: boolean;
  readonly type?: readonly EntryType[];
  readonly minSize?: number;
  readonly maxSize?: number;
  readonly newer?: number;
  readonly older?: number;
  readonly snapshot?: readonly string[];
}

export function define(command: Command, context: Context): void {
  const when = (text: string): number => parseWhen(text, context.clock.now());
  command
    .argument('<pattern...>', 'names (*.odt), parts of paths (docs/*.md) or whole paths (/srv/www/*)')
    .optionsGroup('What to look for:')
    .option('-i, --ignore-case', 'Ignore upper and lower case')
    .option('--type <type>', 'file, directory, symlink, fifo, socket or device (repeatable)', collectType)
    .option('--min-size <size>', 'Files of at least this size', parseSize)
    .option('--max-size <size>', 'Files of at most this size', parseSize)
    .option('--newer <when>', 'Changed since a date (2026-11-21) or in the last 3d, 12h', when)
    .option('--older <when>', 'Changed before', when);
  addFilterOptions(command, ALL_SNAPSHOTS).option(
    '-s, --snapshot <id>',
    'Only in this snapshot (repeatable)',
    collect,
  );
  addRepositoryOptions(command);
  addOutputOptions(command, { json: 'One JSON object for each match in each snapshot' });
  addExamples(command, [
    [holdfast`find "*letters*"`, 'find by part of a name'],
    [holdfast`find "*.odt" --newer 30d`, 'find documents changed in the last month'],
    [holdfast`find -i "thesis*" --type directory`, 'find directories, ignoring case'],
  ]);
  command.action(async (patterns: readonly string[], options: FindOptions) => {
    await withReading(options, context, async ({ trees, snapshots }) => {
      const chosen = chooseSnapshots(snapshots, options, context);
      const report = reportUnreadable(context);
      const found = findEntries(
        trees,
        chosen,
        queryOf(patterns, options),
        { onUnreadable: (path, error) => report(path, error) },
        context.signal,
      );
      if (options.json === true) for await (const one of found) await context.out.json(foundObject(one));
      else {
        const versions = await foundVersions(found);
        const deleted = showsAll(options) ? deletedVersions(versions, chosen) : new Set<FoundVersion>();
        if (versions.length > 0) await context.out.write(foundTable(versions, lookOf(context), deleted));
        await context.out.line(
          versions.length === 0
            ? `Nothing found in ${count(chosen.length, 'snapshot')}.${hintOf(patterns)}`
            : `Found ${count(versions.length, 'version')} in ${count(chosen.length, 'snapshot')}. "Snapshots" shows how many contain the version, "Newest" the latest of them.`,
        );
      }
    });
    if (options.json !== true) await noteOthers(options, context);
  });
}

/** Whether nothing but the name decides, so that a path that a snapshot lacks was not there. */
function showsAll({ type, minSize, maxSize, newer, older, snapshot }: FindOptions): boolean {
  return [type, minSize, maxSize, newer, older, snapshot].every((option) => option === undefined);
}

/** A word without wildcards is a whole name. */
function hintOf(patterns: readonly string[]): string {
  const [word] = patterns.filter((pattern) => !/[*?[\]\\/]/.test(pattern));
  return word === undefined ? '' : ` For part of a name: ${holdfastThere`find -i ${`*${word}*`}`}`;
}

function chooseSnapshots(
  snapshots: readonly Snapshot[],
  options: FindOptions,
  context: Context,
): readonly Snapshot[] {
  if (options.snapshot !== undefined)
    return options.snapshot.map((name) => chooseSnapshot(snapshots, name, options, context));
  const chosen = filterSnapshots(snapshots, options);
  requireSome(chosen, snapshots, options, 'Nothing was searched');
  return chosen;
}

function queryOf(patterns: readonly string[], options: FindOptions): FindQuery {
  return {
    patterns,
    ignoreCase: options.ignoreCase ?? false,
    types: options.type ?? [],
    minSize: options.minSize,
    maxSize: options.maxSize,
    newerThanMs: options.newer,
    olderThanMs: options.older,
  };
}

const TYPES: Readonly<Record<string, readonly EntryType[]>> = {
  file: ['file'],
  f: ['file'],
  directory: ['directory'],
  d: ['directory'],
  symlink: ['symlink'],
  l: ['symlink'],
  fifo: ['fifo'],
  p: ['fifo'],
  socket: ['socket'],
  s: ['socket'],
  device: ['char-device', 'block-device'],
  c: ['char-device'],
  b: ['block-device'],
};

function collectType(text: string, previous: readonly EntryType[] = []): readonly EntryType[] {
  const types = Object.hasOwn(TYPES, text) ? TYPES[text] : undefined;
  if (types !== undefined) return [...previous, ...types];
  throw usage(`"${text}" is not a type`, 'Use file, directory, symlink, fifo, socket or device.');
}
