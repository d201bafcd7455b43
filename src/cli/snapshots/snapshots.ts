import type { Command } from 'commander';
import { holdfast } from '../../base/holdfast-command.ts';
import type { Repository } from '../../repository/repository.ts';
import { listSnapshots } from '../../repository/snapshots.ts';
import { filterSnapshots } from './chosen-snapshot.ts';
import type { Context } from '../command/context.ts';
import { noteOthers, sayingElsewhere, wayElsewhere } from '../places/elsewhere.ts';
import { snapshotObject, snapshotsTable } from './listing-snapshots.ts';
import { withCachedRepository } from '../places/open.ts';
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
import { lookOf, warnOfLoss } from './reading.ts';
import { printable } from '../terminal/terminal.ts';
import { count } from '../terminal/wording.ts';

interface SnapshotsOptions extends RepositoryOptions, OutputOptions, FilterOptions {
  readonly errors?: boolean;
}

export function define(command: Command, context: Context): void {
  addFilterOptions(command, ALL_SNAPSHOTS);
  addRepositoryOptions(command);
  addOutputOptions(command, { json: 'One JSON object for each snapshot' }).option(
    '--errors',
    'In JSON, also list every file that could not be read',
  );
  addExamples(command, [[holdfast`snapshots --tag monthly`, 'list those with a tag']]);
  command.action(async (options: SnapshotsOptions) => {
    const show = async (repository: Repository): Promise<void> =>
      await showSnapshots(repository, options, context);
    await sayingElsewhere(options, context, async () => await withCachedRepository(options, context, show));
  });
}

async function showSnapshots(
  repository: Repository,
  options: SnapshotsOptions,
  context: Context,
): Promise<void> {
  const { out } = context;
  const list = await listSnapshots(repository, context.signal);
  const vanished = await warnOfLoss(repository, list, context);
  const chosen = filterSnapshots(list.live, options);
  if (options.json === true) {
    for (const snapshot of chosen) {
      const object = snapshotObject(snapshot, { errors: options.errors ?? false });
      await out.json({ type: 'snapshot', ...object });
    }
  } else if (chosen.length === 0) {
    await out.line(list.live.length > 0 ? 'No snapshots match.' : noneAtAll(vanished));
    const way = list.live.length > 0 ? undefined : await wayElsewhere(options, context);
    if (way === undefined) await noteOthers(options, context);
    else await out.line(printable(way));
  } else {
    await out.write(`${snapshotsTable(chosen, lookOf(context))}${count(chosen.length, 'snapshot')}\n`);
    await noteOthers(options, context);
  }
}

function noneAtAll(vanished: boolean): string {
  return vanished ? 'There are no snapshots.' : 'There are no snapshots yet.';
}
