import type { Command } from 'commander';
import { parseCompression, type Compression, DEFAULT_COMPRESSION } from '../codec/compress.ts';
import type { Context } from './context.ts';
import { addExcludeOptions, excludeOptions, type GivenExcludes } from './exclude-options.ts';
import { neverBackedUp, openChosen } from './open.ts';
import {
  addExamples,
  addOutputOptions,
  addRepositoryOptions,
  collect,
  commaList,
  usage,
  type OutputOptions,
  type RepositoryOptions,
} from './options.ts';
import { save, summaryObject, summaryText } from './save.ts';
import { resolveSources } from './sources.ts';

interface BackupOptions extends RepositoryOptions, OutputOptions, GivenExcludes {
  readonly tag?: readonly string[];
  readonly host?: string;
  readonly pin?: boolean;
  readonly compression?: Compression;
  readonly encryption: boolean;
  readonly deduplication: boolean;
  readonly parent?: string;
  readonly force?: boolean;
}

export function define(command: Command, context: Context): void {
  command
    .argument('<path...>', 'files and directories to save')
    .optionsGroup('The snapshot:')
    .option('--tag <tags>', 'Words to find it by, separated by commas (repeatable)', collect)
    .option('--host <name>', 'The name of this machine in it')
    .option('--pin', 'Keep it whatever "forget" is told')
    .option(
      '--parent <id>',
      'Compare with this snapshot instead of the newest one of the same paths; "none" reads every file',
    )
    .option('-f, --force', 'Read every file again, changed or not');
  const patterns = addExcludeOptions(command);
  command
    .optionsGroup('How it is stored:')
    .option('--compression <how>', 'zstd:1 to zstd:19, zstd (as zstd:3), auto or none', parseCompression)
    .option('--no-encryption', 'Store file contents and names so that anybody can read them')
    .option('--no-deduplication', 'Store a full copy that shares nothing with other snapshots');
  addRepositoryOptions(command);
  addOutputOptions(command, {
    json: 'Progress and result as JSON, one object on each line',
    quiet: 'Say nothing but errors',
  });
  addExamples(command, [
    ['holdfast backup -r /mnt/backup ~/Documents', 'save a directory'],
    ['holdfast backup --exclude "*.tmp" --exclude-caches ~', 'leave some things out'],
  ]);
  command.action(async (paths: readonly string[], options: BackupOptions) => {
    await backup(paths, excludes(options), options);
  });

  const excludes = (options: BackupOptions) =>
    excludeOptions(options, patterns, neverBackedUp(options, context.env));

  async function backup(
    paths: readonly string[],
    exclude: ReturnType<typeof excludeOptions>,
    options: BackupOptions,
  ): Promise<void> {
    if (options.force === true && options.parent !== undefined) {
      throw usage('--force and --parent contradict each other', 'Give one of them.');
    }
    const { paths: sources, notes } = resolveSources(paths, process.cwd(), exclude.never);
    const repository = await openChosen(options, context);
    try {
      const summary = await save(
        {
          repository,
          sources,
          host: options.host,
          tags: commaList(options.tag),
          pinned: options.pin ?? false,
          compression: options.compression ?? DEFAULT_COMPRESSION,
          plain: !options.encryption,
          isolated: !options.deduplication,
          exclude,
          parent: parentOf(options),
        },
        { ...options, notes },
        context,
      );
      if (options.json === true) await context.out.json(summaryObject(summary));
      else if (options.quiet !== true) await context.out.write(summaryText(summary, context));
    } finally {
      await repository.close();
    }
  }
}

function parentOf({ parent, force }: BackupOptions): 'auto' | 'none' | { snapshot: string } {
  if (force === true || parent === 'none') return 'none';
  return parent === undefined || parent === 'auto' ? 'auto' : { snapshot: parent };
}
