import type { Command } from 'commander';
import { holdfast, holdfastThere } from '../../base/holdfast-command.ts';
import { writeTar, type TarOptions as ArchiveOptions } from '../../browse/tar.ts';
import { chooseSnapshot } from './chosen-snapshot.ts';
import type { Context } from '../command/context.ts';
import { EXIT } from '../command/exit-codes.ts';
import {
  ONE_SNAPSHOT,
  addExamples,
  addFilterOptions,
  addRepositoryOptions,
  usage,
  type FilterOptions,
  type RepositoryOptions,
} from '../command/options.ts';
import { sayingOther } from './other-snapshot.ts';
import { otherSources, otherSourcesLines, textOfLines } from './other-sources.ts';
import { placeIn, withReading } from './reading.ts';
import { printablePath } from '../terminal/terminal.ts';
import { count } from '../terminal/wording.ts';

interface TarOptions extends RepositoryOptions, FilterOptions {
  readonly short?: boolean;
}

export function define(command: Command, context: Context): void {
  command
    .argument('<snapshot>', 'an id or the beginning of one, latest, or latest~1 for the one before')
    .argument('[path]', 'a directory or file, by the path it had when it was backed up', '/')
    .optionsGroup('The archive:')
    .option('--short', 'Make names relative to the path instead of the root directory');
  addFilterOptions(command, ONE_SNAPSHOT);
  addRepositoryOptions(command);
  addExamples(command, [
    [holdfast`tar latest ~/photos > photos.tar`, 'save a directory as an archive'],
    [`${holdfast`tar latest /etc`} | ssh host tar -C /tmp -x`, 'unpack a directory on another machine'],
  ]);
  command.action(async (name: string, path: string, options: TarOptions) => {
    const { stream } = context.out;
    if (stream.isTTY) {
      throw usage(
        'An archive cannot be shown in a terminal',
        `Write it to a file: ${holdfast`tar … > FILE.tar`}`,
      );
    }
    await withReading(options, context, async ({ repository, index, snapshots, trees }) => {
      const snapshot = chooseSnapshot(snapshots, name, options, context);
      const { signal } = context;
      const again = (words: readonly string[]): string => `${holdfastThere`tar ${words}`} > FILE.tar`;
      const wanted: ArchiveOptions = {
        path: placeIn(snapshot, path),
        names: options.short === true ? 'short' : 'full',
        onSkipped: (entry, reason) => context.stderr.write(`Left out: ${printablePath(entry)}: ${reason}\n`),
      };
      const { skipped, incomplete } = await sayingOther(
        command,
        { snapshots, trees, signal, again },
        async () => await writeTar(repository, await index(), snapshot, wanted, stream, signal),
      );
      if (path === '/' && name.startsWith('latest'))
        context.stderr.write(
          textOfLines(otherSourcesLines(snapshot, otherSources(snapshot, snapshots), 'tar')),
        );
      if (skipped === 0 && incomplete === 0) return;
      if (skipped > 0)
        context.stderr.write(`${count(skipped, 'entry', 'entries')} left out of the archive.\n`);
      if (incomplete > 0) {
        context.stderr.write(
          `${count(incomplete, 'entry lacks', 'entries lack')} extended attributes in the archive. A restore keeps all of them.\n`,
        );
      }
      context.exitCode = EXIT.partial;
    });
  });
}
