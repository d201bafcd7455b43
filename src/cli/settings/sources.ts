import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { resolveTyped } from '../../base/typed-path.ts';
import { errnoOf, RequestError, StateError } from '../../base/errors.ts';
import { configuredPath, pathInSource } from '../../daemon/sources/configured-source.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { checkScheduleText } from '../../config/schedule-text.ts';
import { formatDuration } from '../../base/units.ts';
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
import { alsoTo } from './start-place.ts';
import { renderTable } from '../terminal/table.ts';
import { createStyles, printable, terminalWidth, wantsColor } from '../terminal/terminal.ts';

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
      .option('--config <file>', 'Use this configuration');
    return addOutputOptions(one, { json: 'The result as JSON objects' });
  };
  sub('list', 'List what is backed up, where to, and how old the last good backup there is').action(
    async (options: SourcesOptions) => await list(options, context),
  );
  sub('add', 'Back a directory or file up from now on; a running agent begins at once')
    .argument('<path>', 'with -d, one that is backed up already gets these destinations too')
    .option('-d, --destination <name>', 'Where to (repeatable: read once, stored in each)', collect)
    .option('--schedule <when>', 'How often: hourly, daily at 02:30, every 4h, or a cron expression')
    .action(async (path: string, options: SourcesOptions) => await add(path, options, context));
  sub('remove', 'Back it up no longer; the snapshots stay')
    .argument('<path>')
    .action(async (path: string, options: SourcesOptions) => await remove(path, options, context));
  sub('exclude', 'Leave a file or directory out of the backups of its source from now on')
    .argument('<path>')
    .action(async (path: string, options: SourcesOptions) => await leaveOut(path, options, context));
  sub(
    'accept',
    'Say that a file or directory that cannot be read need not be: no backup warns of it any more',
  )
    .argument('<path>')
    .action(async (path: string, options: SourcesOptions) => await accept(path, options, context));
  addExamples(command, [
    [holdfast`sources add ~/Documents --schedule hourly`, 'protect another directory'],
    [holdfast`sources add ~/Photos -d usb -d bucket`, 'to a disk and to a bucket, read once'],
  ]);
}

async function list(options: SourcesOptions, context: Context): Promise<void> {
  const { out, env, clock } = context;
  const { sources } = await settingsOrDefaults(options.config, context);
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
    await out.line(`Nothing is backed up. Begin with: ${holdfast`sources add DIR`}`);
  } else {
    const rows = sources.flatMap(({ path, destinations, schedule, watch }) =>
      destinations.map((destination) => [
        path,
        destination,
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
  return at === null ? 'never' : `${formatDuration(nowMs - at)} ago`;
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
  await say(`${wanted} is backed up from now on.`, { type: 'source_added', path: wanted }, options, context);
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
    throw new RequestError('INVALID_SOURCE', `${path} is backed up already`, {
      hint: `Give it more destinations with -d alone. Its schedule is changed with: ${holdfast`config set ${key} ${schedule}`}`,
    });
  }
  const names = (options.destination ?? []).map((name) => findDestination(settings, name)?.name ?? name);
  const { added, changes } = alsoTo(path, names, sources);
  if (added.length === 0) {
    const to = names.length === 0 ? '' : ` to ${names.join(', ')}`;
    throw new RequestError('INVALID_SOURCE', `${path} is backed up${to} already`, {
      hint: `List with: ${holdfast`sources list`}`,
    });
  }
  const changed = await changeSettings(changes, loaded, options.config, context);
  const destinations = changed.settings.sources[at]?.destinations;
  await say(
    `${path} is backed up to ${added.join(', ')}, too, from now on.`,
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
      hint: `List with: ${holdfast`sources list`}`,
    });
  await changeSettings(found.map(removeSource), loaded, options.config, context);
  await say(
    `${wanted} is backed up no longer. Its snapshots stay.`,
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
  const text = `${wanted} is left out from the next backup on. Snapshots that have it keep it.`;
  await say(text, { type: 'source_excluded', path: wanted }, options, context);
}

async function accept(path: string, options: SourcesOptions, context: Context): Promise<void> {
  const { wanted, loaded, holders } = await holdersOf(path, options, context);
  const changes = holders.map(({ index, source: { acceptUnreadable: accepted }, wanted: at }) =>
    setValue(['sources', index, 'acceptUnreadable'], accepted.includes(at) ? accepted : [...accepted, at]),
  );
  await changeSettings(changes, loaded, options.config, context);
  const text = `That ${wanted} cannot be read is accepted: no backup warns of it any more. Once it can be read, it is saved.`;
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
  throw new RequestError('INVALID_SOURCE', `${wanted} is in no source`, {
    hint: `List what is backed up with: ${holdfast`sources list`}`,
  });
}

async function say(text: string, object: object, options: OutputOptions, { out }: Context): Promise<void> {
  if (options.json === true) await out.json(object);
  else await out.line(printable(text));
}
