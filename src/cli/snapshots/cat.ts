import type { Command } from 'commander';
import { fileContent } from '../../browse/cat.ts';
import { findPath } from '../../browse/locate.ts';
import { pathText } from '../../base/tree-path.ts';
import { RequestError } from '../../base/errors.ts';
import { holdfast, holdfastThere } from '../../base/holdfast-command.ts';
import { chooseSnapshot } from './chosen-snapshot.ts';
import type { Context } from '../command/context.ts';
import {
  ONE_SNAPSHOT,
  addExamples,
  addFilterOptions,
  addRepositoryOptions,
  type FilterOptions,
  type RepositoryOptions,
} from '../command/options.ts';
import { sayingOther } from './other-snapshot.ts';
import { placeIn, withReading } from './reading.ts';

export function define(command: Command, context: Context): void {
  command
    .argument('<snapshot>', 'an id or the beginning of one, latest, or latest~1 for the one before')
    .argument('<path>', 'the file, by the path it had when it was backed up');
  addFilterOptions(command, ONE_SNAPSHOT);
  addRepositoryOptions(command);
  addExamples(command, [
    [holdfast`cat latest ~/notes.txt`, 'show a file'],
    [`${holdfast`cat 1a2b3c4d /srv/db.sql`} | mysql shop`, 'pipe it to a program'],
  ]);
  command.action(async (name: string, path: string, options: RepositoryOptions & FilterOptions) => {
    await withReading(options, context, async ({ repository, index, snapshots, trees }) => {
      const snapshot = chooseSnapshot(snapshots, name, options, context);
      const { signal } = context;
      const again = ([from = '', ...words]: readonly string[]): string => holdfastThere`cat ${from} ${words}`;
      const found = await sayingOther(
        command,
        { snapshots, trees, signal, again },
        async () => await findPath(trees.reader(snapshot), snapshot, placeIn(snapshot, path), signal),
      );
      if (found.entry?.type !== 'file')
        throw notAFile(name, pathText(found.path), found.entry?.type ?? 'directory');
      const content = fileContent(
        repository,
        await index(),
        snapshot,
        found.entry,
        undefined,
        context.signal,
      );
      for await (const piece of content) await context.out.bytes(piece);
    });
  });
}

function notAFile(snapshot: string, path: string, type: string): RequestError {
  return new RequestError('NOT_A_FILE', `${path} is a ${type}, not a file`, {
    hint:
      type === 'directory'
        ? `List its contents with: ${holdfastThere`ls ${snapshot} ${path}`}. Get all of it with: ${holdfastThere`tar ${snapshot} ${path}`} > FILE.tar`
        : `Restore it with: ${holdfastThere`restore ${snapshot} ${path} --target DIR`}`,
  });
}
