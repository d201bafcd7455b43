import type { Command } from 'commander';
import { holdfast, holdfastThere } from '../../base/holdfast-command.ts';
import { resolveTyped } from '../../base/typed-path.ts';
import { SnapshotTrees } from '../../browse/snapshot-trees.ts';
import type { NeverPath } from '../../exclude/excluder.ts';
import { type PatternSetting, typedPattern } from '../../exclude/patterns.ts';
import { loadForReading } from '../../repository/contents/index-for.ts';
import type { Repository } from '../../repository/repository.ts';
import { listSnapshots, type Snapshot } from '../../repository/snapshots.ts';
import { lastPacks } from '../../repository/tombstones.ts';
import type { OverwriteMode, RestoreRequest, RestoreTarget } from '../../restorer/request/request.ts';
import { restore } from '../../restorer/restore.ts';
import { actsForService, type Context } from '../command/context.ts';
import { EXIT } from '../command/exit-codes.ts';
import { openProgress } from '../command/open-progress.ts';
import {
  addExamples,
  addFilterOptions,
  addOutputOptions,
  addRepositoryOptions,
  collect,
  type FilterOptions,
  ONE_SNAPSHOT,
  type OutputOptions,
  type RepositoryOptions,
  usage,
} from '../command/options.ts';
import { sayingElsewhere } from '../places/elsewhere.ts';
import { configuredDirectories, neverBackedUp, withCachedRepository } from '../places/open.ts';
import type { Environment } from '../terminal/terminal.ts';
import { shortId } from '../terminal/wording.ts';
import { chooseSnapshot } from './chosen-snapshot.ts';
import { sayingOther } from './other-snapshot.ts';
import { latestNote, otherSources, otherSourcesLines, textOfLines } from './other-sources.ts';
import { goesToOriginals, ofOtherHost, ownSnapshots } from './own-snapshots.ts';
import { placeIn, splitName, warnOfLoss } from './reading.ts';
import { watchRestore } from './restore-progress.ts';
import { restoreObject, restoreText } from './restore-summary.ts';

interface RestoreOptions extends RepositoryOptions, OutputOptions, FilterOptions {
  readonly target?: string;
  readonly inPlace?: boolean;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly overwrite?: TypedOverwrite;
  readonly deleteExtra?: boolean;
  readonly dryRun?: boolean;
  readonly verify: boolean;
  readonly restoreOwnership?: boolean;
  readonly numericOwners?: boolean;
}

export function define(command: Command, context: Context): void {
  command
    .argument(
      '<snapshot>',
      'an id or the beginning of one, latest, or latest~1; SNAPSHOT:DIR for the contents of a directory',
    )
    .argument('[path...]', 'what to restore, by the paths it had; everything if left out')
    .optionsGroup('Where to:')
    .option('-t, --target <dir>', 'Restore into this directory, keeping full paths')
    .option('--in-place', 'Restore to the original location')
    .optionsGroup('What to restore:')
    .option('-i, --include <pattern>', 'Only what matches, as in .gitignore (repeatable)', collect)
    .option('-e, --exclude <pattern>', 'Everything except what matches (repeatable)', collect)
    .optionsGroup('Behaviour:')
    .option(
      '--overwrite <mode>',
      'Whether to replace existing files: never (default), if-changed, if-newer, always',
      parseOverwrite,
    )
    .option(
      '--delete-extra',
      'Delete everything in restored directories that is not in the snapshot, including files the backup had excluded: check with -n first, and use --exclude for what should stay',
    )
    .option('--restore-ownership', 'Set owners, setuid bits, devices and system attributes (as root)')
    .option('--numeric-owners', 'Set owners by number, not by name')
    .option('--no-verify', 'Do not verify restored files by reading them again')
    .option('-n, --dry-run', 'Only show what would be done');
  addFilterOptions(command, ONE_SNAPSHOT);
  addRepositoryOptions(command);
  addOutputOptions(command, {
    json: 'Progress and result as JSON, one object on each line',
    quiet: 'Print errors only',
  });
  addExamples(command, [
    [holdfast`restore latest --target /tmp/back`, 'restore everything into /tmp/back'],
    [
      holdfast`restore latest ~/notes.txt --in-place --overwrite if-changed`,
      'restore one file to its original location',
    ],
    [holdfast`restore 1a2b3c4d:/srv/www --target /srv/www-old`, 'restore the contents of one directory'],
  ]);
  command.action(async (name: string, paths: readonly string[], options: RestoreOptions) => {
    const target = targetOf(options);
    const named = splitName(name);
    const own = await neverBackedUp(options, context);
    // Other repositories are protected only from a restore that deletes: any other treats them as ordinary directories.
    const never = options.deleteExtra === true ? [...own, ...(await configuredDirectories(context))] : own;
    const bringBack = async (repository: Repository): Promise<void> => {
      const list = await listSnapshots(repository, context.signal);
      await warnOfLoss(repository, list, context);
      const isLatest = named.snapshot.startsWith('latest');
      const overOriginals = goesToOriginals(target, named.path);
      const from = isLatest && overOriginals ? ownSnapshots(list.live, options) : list.live;
      const snapshot = chooseSnapshot(from, named.snapshot, options, context);
      const whose = ofOtherHost(snapshot);
      if (overOriginals && whose !== '')
        context.stderr.write(`Note: snapshot ${shortId(snapshot.id)} is${whose}, not of this machine.\n`);
      const request = requestOf(
        { repository, snapshot, target, never, subfolder: named.path, paths },
        options,
        context.env,
      );
      const { signal } = context;
      const trees = new SnapshotTrees(
        repository,
        async () => await loadForReading(repository, lastPacks(list.tombstones), signal),
      );
      const again = (words: readonly string[]): string => holdfastThere`restore ${words}`;
      await sayingOther(
        command,
        { snapshots: list.live, trees, signal, again },
        async () => await run(request, isLatest ? othersOf(request, list.live) : [], options, context),
      );
    };
    await sayingElsewhere(
      options,
      context,
      async () => await withCachedRepository(options, context, bringBack),
    );
  });
}

/** As people write it, since a suggested command repeats it. */
type TypedOverwrite = keyof typeof OVERWRITE;

const OVERWRITE = {
  never: 'never',
  'if-changed': 'if_changed',
  'if-newer': 'if_newer',
  always: 'always',
} as const satisfies Readonly<Record<string, OverwriteMode>>;

function parseOverwrite(text: string): TypedOverwrite {
  const typed = text.replaceAll('_', '-');
  if (!isTypedOverwrite(typed))
    throw usage(`--overwrite does not know "${text}"`, 'Use never, if-changed, if-newer or always.');
  return typed;
}

function isTypedOverwrite(text: string): text is TypedOverwrite {
  return Object.hasOwn(OVERWRITE, text);
}

function targetOf(options: RestoreOptions): RestoreTarget {
  const { target, inPlace } = options;
  if ((target === undefined) === (inPlace !== true)) {
    throw usage(
      target === undefined
        ? 'It is not clear where to restore to'
        : '--target and --in-place cannot be combined',
      'Use --target DIR, or --in-place to restore to the original location.',
    );
  }
  if (target === undefined) return { kind: 'in-place' };
  return { kind: 'directory', path: resolveTyped(target) };
}

function requestOf(
  parts: {
    readonly repository: Repository;
    readonly snapshot: Snapshot;
    readonly target: RestoreTarget;
    readonly never: readonly NeverPath[];
    readonly subfolder: string | undefined;
    readonly paths: readonly string[];
  },
  options: RestoreOptions,
  env: Environment,
): RestoreRequest {
  return {
    ...parts,
    subfolder: parts.subfolder === undefined ? undefined : placeIn(parts.snapshot, parts.subfolder),
    paths: parts.paths.map((path) => placeIn(parts.snapshot, path)),
    include: patterns(options.include, '--include'),
    exclude: patterns(options.exclude, '--exclude'),
    overwrite: OVERWRITE[options.overwrite ?? 'never'],
    deleteExtra: options.deleteExtra ?? false,
    dryRun: options.dryRun ?? false,
    verify: options.verify,
    // The service of a machine saves files of many users, so their owners are restored by default.
    restoreOwnership: options.restoreOwnership ?? actsForService(env),
    ownersByName: options.numericOwners !== true,
  };
}

function patterns(typed: readonly string[] = [], from: string): PatternSetting[] {
  return typed.map((pattern) => ({ pattern: typedPattern(pattern), from }));
}

/** Only who restores all of a snapshot is told of other sources: whoever names a path knows what to look for. */
function othersOf({ snapshot, subfolder, paths, include }: RestoreRequest, live: readonly Snapshot[]) {
  const isWhole = subfolder === undefined && paths.length === 0 && include.length === 0;
  return isWhole ? otherSources(snapshot, live) : [];
}

async function run(
  request: RestoreRequest,
  others: readonly Snapshot[],
  options: RestoreOptions,
  context: Context,
): Promise<void> {
  const { out, signal } = context;
  // Said before as well: whoever sees that it is another folder need not wait for the end.
  if (others.length > 0 && options.json !== true && options.quiet !== true)
    context.stderr.write(`${latestNote(request.snapshot)}\n`);
  const progress = openProgress(options.dryRun === true ? 'Comparing' : 'Restoring', options, context);
  context.outcome = 'The files restored so far are complete. Run the same command again to continue.';
  try {
    const observer = watchRestore(progress, request.target, options, out);
    const summary = await restore(request, observer, signal);
    progress.finish();
    if (summary.status === 'partial') context.exitCode = EXIT.partial;
    if (options.json === true) await out.json(restoreObject(request, summary));
    else if (options.quiet !== true) {
      await out.write(restoreText(request, summary, context));
      await out.write(textOfLines(otherSourcesLines(request.snapshot, others, 'restore')));
    }
  } finally {
    progress.finish();
  }
}
