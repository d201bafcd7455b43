import type { Command } from 'commander';
import { holdfast } from '../../base/holdfast-command.ts';
import { pathVersions, type PathVersion } from '../../browse/versions.ts';
import { filterSnapshots, requireSome } from './chosen-snapshot.ts';
import type { Context } from '../command/context.ts';
import { wherePathLeads } from '../../system/where-it-lies.ts';
import { noteOthers } from '../places/elsewhere.ts';
import { EXIT } from '../command/exit-codes.ts';
import { versionObject, versionsTable } from './listing-versions.ts';
import {
  ALL_SNAPSHOTS,
  addExamples,
  addFilterOptions,
  addOutputOptions,
  addRepositoryOptions,
  type FilterOptions,
  type OutputOptions,
  type RepositoryOptions,
} from '../command/options.ts';
import { lookOf, sourcePath, withReading } from './reading.ts';
import { printablePath } from '../terminal/terminal.ts';

interface VersionsOptions extends RepositoryOptions, OutputOptions, FilterOptions {
  readonly oldestFirst?: boolean;
}

export function define(command: Command, context: Context): void {
  command
    .argument('<path>', 'a file or directory, by the path it had')
    .optionsGroup('What to show:')
    .option('--oldest-first', 'Show the oldest version first');
  addFilterOptions(command, ALL_SNAPSHOTS);
  addRepositoryOptions(command);
  addOutputOptions(command, { json: 'One JSON object for each version' });
  addExamples(command, [
    [holdfast`versions ~/notes.txt`, 'see when a file changed'],
    [holdfast`cat 1a2b3c4d ~/notes.txt`, 'show one of these versions, using its "Newest" snapshot'],
  ]);
  command.action(async (typed: string, options: VersionsOptions) => {
    const path = sourcePath(typed);
    await withReading(options, context, async ({ trees, snapshots }) => {
      const { out, signal } = context;
      const order = options.oldestFirst === true ? 'oldest-first' : 'newest-first';
      const chosen = filterSnapshots(snapshots, options);
      requireSome(chosen, snapshots, options, 'Nothing was searched');
      const versions: PathVersion[] = [];
      for await (const version of pathVersions(trees, chosen, path, order, signal, wherePathLeads(path)))
        versions.push(version);
      if (versions.some(({ state }) => state === 'unreadable')) context.exitCode = EXIT.failed;
      if (options.json === true) for (const version of versions) await out.json(versionObject(version));
      else if (versions.some(({ state }) => state !== 'absent'))
        await out.write(versionsTable(versions, lookOf(context)));
      else await out.line(`No snapshot contains ${printablePath(path)}.`);
    });
    if (options.json !== true) await noteOthers(options, context);
  });
}
