import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { resolveTyped } from '../../base/typed-path.ts';
import { errnoOf, RequestError, StateError } from '../../base/errors.ts';
import { configuredPath, pathInSource } from '../../daemon/sources/configured-source.ts';
import { unfitSources, unfitText } from '../../daemon/sources/unfit-sources.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { checkScheduleText } from '../../config/schedule-text.ts';
import { addSource, removeSource, setValue } from '../../config/config-edit.ts';
import { findDestination } from '../../config/effective-settings.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { SourceSettings } from '../../config/settings.ts';
import { patternFor } from '../backup/exclude-options.ts';
import type { SourceStatus } from '../../jobs/agent.ts';
import { agentObject, askAgent } from '../agent/ask-agent.ts';
import type { Context } from '../command/context.ts';
import { addExamples, addOutputOptions, collect, type OutputOptions } from '../command/options.ts';
import { changeSettings, readSettings, settingsOrDefaults } from '../places/settings-file.ts';
import { statePaths } from '../command/state-directory.ts';
import { alsoTo } from './start-place.ts';
import { renderTable } from '../terminal/table.ts';
import { createStyles, printable, terminalWidth, wantsColor } from '../terminal/terminal.ts';
import { ago } from '../terminal/wording.ts';
import { shownDestination } from '../../config/embedded-repository.ts';

interface SourcesOptions extends OutputOptions {
  readonly config?: string;
  readonly destination?: readonly string[];
  readonly schedule?: string;
}

export function define(command: Command, context: Context): void {
  command.usage('COMMAND [options]').helpCommand(false);
  const sub = (name: string, purpose: string): Command => {
    const one = command
      .command(name)
      .summary(purpose)
      .description(`${purpose}.`)
      .helpOption('-h, --help', 'Show this help')
      .option('--config <file>', 'Use this file instead of config.json in the state directory');
    return addOutputOptions(one, { json: 'The result as JSON objects' });
  };
  sub('list', 'List what is backed up, where to, and when it was last backed up').action(
    async (options: SourcesOptions) => await list(options, context),
  );
  sub('add', 'Add a directory or file; a running agent backs it up at once')
    .argument('<path>', 'to give an existing source more destinations, name it again with -d')
    .option(
      '-d, --destination <name>',
      'Where to (repeatable: files are read once and stored in each)',
      collect,
    )
    .option('--schedule <when>', 'How often: hourly, daily at 02:30, every 4h, or a cron expression')
    .action(async (path: string, options: SourcesOptions) => await add(path, options, context));
  sub('remove', 'Stop backing it up; its snapshots are kept')
    .argument('<path>')
    .action(async (path: string, options: SourcesOptions) => await remove(path, options, context));
  sub('exclude', 'Leave a file or directory out of future backups')
    .argument('<path>')
    .action(async (path: string, options: SourcesOptions) => await leaveOut(path, options, context));
  sub('accept', 'Accept that a file or directory cannot be read: backups no longer warn about it')
    .argument('<path>')
    .action(async (path: string, options: SourcesOptions) => await accept(path, options, context));
  addExamples(command, [
    [holdfast`sources add ~/Documents --schedule hourly`, 'back up another directory'],
    [holdfast`sources add ~/Photos -d usb -d bucket`, 'back up to a disk and to a bucket'],
  ]);
}

async function list(options: SourcesOptions, context: Context): Promise<void> {
  const { out, env, clock } = context;
  const settings = await settingsOrDefaults(options.config, context);
  const { sources } = settings;
  const told = options.config === undefined ? await askIfRunning(context) : undefined;
  const lastGood = (path: string, destination: string): number | null | undefined =>
    told?.find((one) => one.path === path && one.destination === destination)?.last_good_backup_at;
  if (options.json === true) {
    for (const source of sources) {
      const good = source.destinations.map((name) => [name, lastGood(source.path, name) ?? null]);
      const known = told === undefined ? {} : { last_good_backup_at: Object.fromEntries(good) };
      await out.json(agentObject({ type: 'source', ...source, ...known }));
    }
  } else if (sources.length === 0) {
    await out.line(`Nothing is backed up yet. Start with: ${holdfast`sources add DIR`}`);
  } else {
    const rows = sources.flatMap(({ path, destinations, schedule, watch }) =>
      destinations.map((destination) => [
        path,
        shownDestination(destination, settings),
        schedule,
        watch ? 'yes' : '',
        ageWords(lastGood(path, destination), clock.now()),
      ]),
    );
    const columns = [
      { title: 'Source', cut: 'middle' as const },
      { title: 'To' },
      { title: 'When' },
      { title: 'Watched' },
      ...(told === undefined ? [] : [{ title: 'Last good backup' }]),
    ];
    const { bold } = createStyles(wantsColor(out.stream, env));
    const shown = rows.map((row) => row.slice(0, columns.length));
    await out.write(renderTable(columns, shown, { width: terminalWidth(out.stream), titleStyle: bold }));
    const { directory: stateDirectory } = statePaths(env);
    for (const one of unfitSources({ settings, stateDirectory }))
      await out.line(printable(`Warning: ${unfitText(one)}`));
  }
}

/** The sources as the agent knows them. Undefined when no agent is running: only the agent knows when backups were made. */
async function askIfRunning(context: Context): Promise<readonly SourceStatus[] | undefined> {
  try {
    return (await askAgent(context, 'status', {})).sources;
  } catch (error) {
    if (error instanceof StateError && error.code === 'NO_AGENT') return undefined;
    throw error;
  }
}

/** How long ago a backup was made. `at` is null if there was none, and undefined if the agent does not know the source yet. */
function ageWords(at: number | null | undefined, nowMs: number): string {
  if (at === undefined) return '';
  return at === null ? 'never' : ago(nowMs - at);
}

async function add(path: string, options: SourcesOptions, context: Context): Promise<void> {
  const loaded = await readSettings(options.config, context);
  const wanted = configuredPath(loaded?.settings ?? { sources: [] }, resolveTyped(path));
  if (loaded?.settings.sources.some((source) => source.path === wanted) === true) {
    await addDestinations(wanted, loaded, options, context);
    return;
  }
  await requireThere(wanted);
  const source = {
    path: wanted,
    ...whereTo(options.destination ?? []),
    ...(options.schedule === undefined ? {} : { schedule: options.schedule }),
  };
  await changeSettings([addSource(source)], loaded, options.config, context);
  await say(`${wanted} is now backed up.`, { type: 'source_added', path: wanted }, options, context);
}

/** Adds destinations to a source that is backed up already. As with `start`, it keeps its earlier ones, which stay up to date. */
async function addDestinations(
  path: string,
  loaded: LoadedConfig,
  { schedule, ...options }: SourcesOptions,
  context: Context,
): Promise<void> {
  const { settings } = loaded;
  const { sources } = settings;
  const at = sources.findIndex((source) => source.path === path);
  if (schedule !== undefined) {
    checkScheduleText(schedule);
    const key = `sources[${at}].schedule`;
    throw new RequestError('INVALID_SOURCE', `${path} is already backed up`, {
      hint: `To add destinations, use -d without --schedule. To change the schedule: ${holdfast`config set ${key} ${schedule}`}`,
    });
  }
  const names = (options.destination ?? []).map((name) => findDestination(settings, name)?.name ?? name);
  const { added, changes } = alsoTo(path, names, sources);
  if (added.length === 0) {
    const to = names.length === 0 ? '' : ` to ${names.join(', ')}`;
    throw new RequestError('INVALID_SOURCE', `${path} is already backed up${to}`, {
      hint: `List the sources with: ${holdfast`sources list`}`,
    });
  }
  const changed = await changeSettings(changes, loaded, options.config, context);
  const destinations = changed.settings.sources[at]?.destinations;
  await say(
    `${path} is now backed up to ${added.join(', ')} as well.`,
    { type: 'source_changed', path, destinations },
    options,
    context,
  );
}

function whereTo(names: readonly string[]): { destination?: string; destinations?: string[] } {
  const [only] = names;
  if (only === undefined) return {};
  return names.length === 1 ? { destination: only } : { destinations: [...names] };
}

/** Refuses a path that does not exist: a typing mistake would be noticed only when the files are needed. */
async function requireThere(path: string): Promise<void> {
  try {
    await stat(path);
  } catch (cause) {
    // A path that only the agent may see is left for the agent to judge.
    if (errnoOf(cause) !== 'ENOENT' && errnoOf(cause) !== 'ENOTDIR') return;
    throw new RequestError('INVALID_SOURCE', `${path} does not exist`, {
      hint: 'Check the spelling, and that the drive is mounted.',
    });
  }
}

async function remove(path: string, options: SourcesOptions, context: Context): Promise<void> {
  const loaded = await readSettings(options.config, context);
  const wanted = configuredPath(loaded?.settings ?? { sources: [] }, resolveTyped(path));
  // One path may have several entries, for different destinations. The last one is removed first, so that the other
  // indices stay right.
  const found = (loaded?.settings.sources ?? [])
    .flatMap((source, index) => (source.path === wanted ? [index] : []))
    .toReversed();
  if (found.length === 0)
    throw new RequestError('INVALID_SOURCE', `${wanted} is not backed up`, {
      hint: `List the sources with: ${holdfast`sources list`}`,
    });
  await changeSettings(found.map(removeSource), loaded, options.config, context);
  await say(
    `${wanted} is no longer backed up. Its snapshots are kept.`,
    { type: 'source_removed', path: wanted },
    options,
    context,
  );
}

async function leaveOut(path: string, options: SourcesOptions, context: Context): Promise<void> {
  const { wanted, loaded, holders } = await holdersOf(path, options, context);
  const changes = holders.map(({ index, source, wanted: at }) => {
    const { patterns } = source.exclude;
    const pattern = patternFor(at, source.path);
    const kept = patterns.includes(pattern) ? patterns : [...patterns, pattern];
    return setValue(['sources', index, 'exclude', 'patterns'], kept);
  });
  await changeSettings(changes, loaded, options.config, context);
  const text = `${wanted} is left out of future backups. Existing snapshots keep it.`;
  await say(text, { type: 'source_excluded', path: wanted }, options, context);
}

async function accept(path: string, options: SourcesOptions, context: Context): Promise<void> {
  const { wanted, loaded, holders } = await holdersOf(path, options, context);
  const changes = holders.map(({ index, source: { acceptUnreadable: accepted }, wanted: at }) =>
    setValue(['sources', index, 'acceptUnreadable'], accepted.includes(at) ? accepted : [...accepted, at]),
  );
  await changeSettings(changes, loaded, options.config, context);
  const text = `Backups no longer warn that ${wanted} cannot be read. If it becomes readable, it is backed up.`;
  await say(text, { type: 'source_accepted', path: wanted }, options, context);
}

interface Holders {
  readonly wanted: string;
  readonly loaded: LoadedConfig | undefined;
  /** The sources with their indices in the settings. */
  readonly holders: readonly {
    readonly index: number;
    readonly source: SourceSettings;
    /** The path as it is called in that source: by way of a link it may have another name. */
    readonly wanted: string;
  }[];
}

/** Every source that contains the path. */
async function holdersOf(path: string, options: SourcesOptions, context: Context): Promise<Holders> {
  const loaded = await readSettings(options.config, context);
  const typed = resolveTyped(path);
  const holders = (loaded?.settings.sources ?? []).flatMap((source, index) => {
    const wanted = pathInSource(source.path, typed);
    return wanted === undefined || wanted === source.path ? [] : [{ index, source, wanted }];
  });
  const [first] = holders;
  if (first !== undefined) return { wanted: first.wanted, loaded, holders };
  const wanted = typed;
  throw new RequestError('INVALID_SOURCE', `${wanted} is not in any source`, {
    hint: `List what is backed up with: ${holdfast`sources list`}`,
  });
}

async function say(text: string, object: object, options: OutputOptions, { out }: Context): Promise<void> {
  if (options.json === true) await out.json(object);
  else await out.line(printable(text));
}
