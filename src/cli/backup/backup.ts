import type { Command } from 'commander';
import { holdfast } from '../../base/holdfast-command.ts';
import { Scout } from '../../archiver/source/scout.ts';
import { tellOfBackup } from '../agent/tell-agent.ts';
import { makeDirectories } from '../../base/make-directories.ts';
import { requireOwnTags } from '../../base/job-tag.ts';
import { keepHeapSmall } from '../../base/small-heap.ts';
import { type Compression, DEFAULT_COMPRESSION, parseCompression } from '../../codec/compress.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Context } from '../command/context.ts';
import { noteSettingsOf } from '../places/elsewhere.ts';
import {
  addExcludeOptions,
  excludeOptions,
  type GivenExcludes,
  type GivenPattern,
  readPatterns,
} from './exclude-options.ts';
import { neverBackedUp, withCachedRepository } from '../places/open.ts';
import {
  addExamples,
  addOutputOptions,
  addRepositoryOptions,
  collectTags,
  commaList,
  oneLine,
  type OutputOptions,
  type RepositoryOptions,
  usage,
} from '../command/options.ts';
import { protect, save, saveStream, showEstimate } from './save.ts';
import { showSummary } from './save-summary.ts';
import { requireAnswer, resolveSources } from '../../archiver/source/sources.ts';
import { requireWritable, statePaths, unusableState } from '../command/state-directory.ts';
import { type StreamOptions, streamSource, type StreamSource } from './stream-source.ts';

interface BackupOptions extends RepositoryOptions, OutputOptions, GivenExcludes, StreamOptions {
  readonly tag?: readonly string[];
  readonly host?: string;
  readonly pin?: boolean;
  readonly compression?: Compression;
  readonly encryption: boolean;
  readonly deduplication: boolean;
  readonly parent?: string;
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

export function define(command: Command, context: Context): void {
  command
    .argument('[path...]', 'files and directories to back up')
    .optionsGroup('The snapshot:')
    .option('--tag <tags>', 'Tags to find it by, separated by commas (repeatable)', collectTags)
    .option('--host <name>', 'Record this as the name of the machine', oneLine)
    .option('--pin', 'Protect it from the rules of "forget"')
    .option(
      '--parent <id>',
      'Compare with this snapshot instead of the latest one of the same paths; "none" reads every file',
    )
    .option('-f, --force', 'Read every file again, changed or not')
    .option('-n, --dry-run', 'Only show what would be backed up and how much would be read');
  const patterns = addExcludeOptions(command);
  command
    .optionsGroup('Instead of files:')
    .option('--stdin-name <name>', 'Back up standard input as a file with this name')
    .option(
      '--stdin-command [command]',
      'Back up the output of a command; if the command fails, no snapshot is made',
    )
    .optionsGroup('How it is stored:')
    .option('--compression <how>', 'zstd:1 to zstd:19, zstd (as zstd:3), auto or none', parseCompression)
    .option('--no-encryption', 'Store file contents and names so that anyone can read them')
    .option('--no-deduplication', 'Store a full copy that shares no data with other snapshots');
  addRepositoryOptions(command);
  addOutputOptions(command, {
    json: 'Progress and result as JSON, one object on each line',
    quiet: 'Print errors only',
  });
  addExamples(command, [
    [holdfast`backup -r /mnt/backup ~/Documents`, 'back up a directory'],
    [holdfast`backup --exclude "*.tmp" --exclude-caches ~`, 'leave some things out'],
    [
      holdfast`backup --stdin-name db.sql --stdin-command -- mysqldump shop`,
      'back up the output of a program',
    ],
  ]);
  command.action(async (words: readonly string[], options: BackupOptions) => {
    if (options.force === true && options.parent !== undefined)
      throw usage('--force and --parent cannot be combined', 'Use only one of them.');
    requireOwnTags(commaList(options.tag));
    const stream = streamSource(options, words, context);
    if (stream === undefined) {
      await backUpFiles(words, patterns, { ...options, isWhole: isWhole(command) }, context);
      return;
    }
    requireStreamOptions(command);
    await backUpStream(stream, options, context);
  });
}

/**
 * A backup has to remember in the state directory what it writes to the repository. Checks that it can, before it reads
 * all files.
 */
async function requireState({ env }: Context): Promise<void> {
  const { directory } = statePaths(env);
  await makeDirectories(directory).catch((cause: unknown) => {
    throw unusableState(directory, cause);
  });
  await requireWritable(directory);
}

async function backUpFiles(
  words: readonly string[],
  given: readonly GivenPattern[],
  options: BackupOptions & { readonly isWhole: boolean },
  context: Context,
): Promise<void> {
  if (words.length === 0)
    throw usage('Nothing to back up was named', `Name files or directories: ${holdfast`backup ~/Documents`}`);
  if (options.dryRun !== true) await requireState(context);
  const patterns = await readPatterns(given, context.signal);
  const exclude = excludeOptions(options, patterns, await neverBackedUp(options, context));
  await requireAnswer(words, undefined, context.signal);
  await noteSettingsOf(words, options, context);
  const { paths, named, notes } = resolveSources(words, undefined, exclude.never);
  const parent = parentOf(options);
  // Before the repository is opened: its lists, too, are as long as the store makes them.
  keepHeapSmall();
  // An ordinary backup spends most of its time looking at files. That begins while the key is derived from the passphrase.
  const scout = parent === 'none' ? undefined : Scout.start(paths);
  try {
    const work = async (repository: Repository): Promise<void> => {
      const request = { ...common(repository, options), sources: paths, named, exclude, parent, scout };
      if (options.dryRun === true) await showEstimate(request, { ...options, notes }, context);
      else {
        const summary = await save(request, { ...options, notes }, context);
        await showSummary(summary, options, context);
        await protect(repository, context);
        const [word = '', ...others] = words;
        if (options.isWhole && others.length === 0) await tellOfBackup(word, repository, summary, context);
      }
    };
    await withCachedRepository(options, context, work, { look: 'everything', adds: true });
  } finally {
    scout?.stop();
  }
}

/** Options that leave files out. */
const RULES = [
  '--exclude',
  '--iexclude',
  '--exclude-file',
  '--ignore-file',
  '--exclude-caches',
  '--exclude-if-present',
  '--exclude-larger-than',
  '--one-file-system',
] as const;

/** Options that apply to files alone. With a stream they are refused, as nothing is ignored silently. */
const OF_FILES: ReadonlySet<string> = new Set([
  '--parent',
  '--force',
  '--dry-run',
  ...RULES,
  '--no-deduplication',
]);

/** With these, a snapshot is no backup of the whole source by this machine. */
const NARROWING: ReadonlySet<string> = new Set(['--host', ...RULES]);

function isWhole(command: Command): boolean {
  return !command.options.some(
    (option) =>
      NARROWING.has(option.long ?? '') && command.getOptionValueSource(option.attributeName()) === 'cli',
  );
}

function requireStreamOptions(command: Command): void {
  const given = command.options.filter(
    (option) => command.getOptionValueSource(option.attributeName()) === 'cli',
  );
  const option = given.find(({ long }) => OF_FILES.has(long ?? ''))?.long;
  if (option !== undefined)
    throw usage(`${option} cannot be used when backing up the output of a program`, `Leave out ${option}.`);
}

const NOTHING_CAME =
  'nothing came from standard input, so the file in the snapshot is empty. If the program that feeds it can fail, run it with --stdin-command instead: no snapshot is made if it fails.';

async function backUpStream(stream: StreamSource, options: BackupOptions, context: Context): Promise<void> {
  await requireState(context);
  const work = async (repository: Repository): Promise<void> => {
    const request = { ...common(repository, options), path: stream.path };
    const summary = await saveStream(request, stream.read, options, context);
    if (summary.bytesRead === 0 && options.quiet !== true) context.stderr.write(`Note: ${NOTHING_CAME}\n`);
    await showSummary(summary, options, context);
    await protect(repository, context);
  };
  await withCachedRepository(options, context, work, { look: 'everything', adds: true });
}

function common(repository: Repository, options: BackupOptions) {
  return {
    repository,
    host: options.host,
    tags: commaList(options.tag),
    pinned: options.pin ?? false,
    compression: options.compression ?? DEFAULT_COMPRESSION,
    plain: !options.encryption,
    isolated: !options.deduplication,
  };
}

function parentOf({ parent, force }: BackupOptions): 'auto' | 'none' | { snapshot: string } {
  if (force === true || parent === 'none') return 'none';
  return parent === undefined || parent === 'auto' ? 'auto' : { snapshot: parent };
}
