/** `holdfast start --once`: one backup, without the agent, and without a change of the settings. */
import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ArchiveSummary } from '../../archiver/archive.ts';
import { NO_EXCLUSIONS } from '../../exclude/excluder.ts';
import { requireAnswer, resolveSources } from '../../archiver/source/sources.ts';
import { holdfast, programName } from '../../base/holdfast-command.ts';
import { toolName } from '../../base/program-version.ts';
import { quoted } from '../../base/shell-words.ts';
import { formatBytes, formatDuration } from '../../base/units.ts';
import { DEFAULT_COMPRESSION } from '../../codec/compress.ts';
import { BugError } from '../../base/errors.ts';
import { keepHeapSmall } from '../../base/small-heap.ts';
import { openCached } from '../../cache/open.ts';
import { findDestination } from '../../config/effective-settings.ts';
import { type ChosenPlace, configuredPlace } from '../places/chosen-place.ts';
import type { Context } from '../command/context.ts';
import { type Embedded, openEmbedded } from '../places/embedded.ts';
import { neverBackedUpTo, openThere, shownLocation } from '../places/open.ts';
import { type OutputOptions, usage } from '../command/options.ts';
import { protect, save } from '../backup/save.ts';
import { showSummary } from '../backup/save-summary.ts';
import { settingsOrDefaults } from '../places/settings-file.ts';
import { startPlace } from '../settings/start-place.ts';
import { statePaths } from '../command/state-directory.ts';
import { createStyles, printable, wantsColor } from '../terminal/terminal.ts';
import { count, shortId } from '../terminal/wording.ts';

export interface StartOnceOptions extends OutputOptions {
  readonly source?: readonly string[];
  readonly destination?: string;
  readonly port?: string;
  readonly config?: string;
}

export async function startOnce(options: StartOnceOptions, context: Context): Promise<void> {
  const named = options.source ?? [];
  if (named.length === 0) {
    await context.out.write(howToBegin(context));
    return;
  }
  if (options.port !== undefined)
    throw usage('--once starts no agent, so --port has no use', 'Leave out either --port or --once.');
  const target = await targetOf(options, context);
  const never = await neverBackedUpTo(target.place, context);
  // A symbolic link to a directory stands for the directory here.
  await requireAnswer(named, undefined, context.signal);
  const { paths, notes } = resolveSources(
    named.map((name) => `${name}/`),
    undefined,
    never,
  );
  keepHeapSmall();
  const { repository, created } = await openTarget(target, context);
  try {
    if (created) context.stderr.write(createdText(context));
    const cached = openCached(repository, statePaths(context.env).directory, context.clock);
    try {
      const summary = await save(
        {
          repository: cached.repository,
          sources: paths,
          tags: [],
          pinned: false,
          compression: DEFAULT_COMPRESSION,
          plain: false,
          isolated: false,
          exclude: { ...NO_EXCLUSIONS, never: await neverBackedUpTo(target.place, context) },
          parent: 'auto',
        },
        { ...options, notes },
        context,
      );
      const told = async (): Promise<string> => await savedText(summary, { named, target }, context);
      await showSummary(summary, options, context, told);
      await protect(cached.repository, context);
    } finally {
      cached.close();
    }
  } finally {
    await repository.close();
  }
}

interface Target {
  readonly place: ChosenPlace;
  /**
   * How the next command has to call the program: with the configuration that was named here, which it would not read
   * otherwise.
   */
  readonly run: string;
  /** The option by which the next command finds the repository: ` -r NAME`, or nothing. */
  readonly option: string;
}

/** What `--destination` names, else the default destination. @throws {RequestError} {ConfigError} */
async function targetOf({ destination, config }: StartOnceOptions, context: Context): Promise<Target> {
  const settings = await settingsOrDefaults(config, context);
  const { name, url, isNew } = startPlace(destination ?? settings.defaultDestination, settings);
  const program = programName();
  const run = config === undefined ? program : `HOLDFAST_CONFIG=${quoted(resolve(config))} ${program}`;
  // As for every command that is given a path, the passphrase is given as well, or asked for.
  if (isNew)
    return { place: { location: url, how: 'named', settings: undefined }, run, option: ` -r ${quoted(url)}` };
  const how = destination === undefined ? 'default' : 'named';
  const found = findDestination(settings, name);
  if (found === undefined)
    throw new BugError(`The destination ${name} is not one of the configured destinations`);
  const isDefault = name === settings.defaultDestination;
  return { place: configuredPlace(found, how, context), run, option: isDefault ? '' : ` -r ${name}` };
}

/** Makes the embedded repository if there is none. Any other must exist: its drive may be away, which only people can judge. */
async function openTarget({ place }: Target, context: Context): Promise<Embedded> {
  if (place.how === 'embedded') return await openEmbedded(context);
  const repository = await openThere(place, {}, context, { look: 'everything', adds: true });
  return { repository, created: false };
}

function createdText({ env }: Context): string {
  const { repository, recoveryKit } = statePaths(env);
  return `${toolName()}: the first start created an encrypted repository for you.
  Repository    ${printable(repository)}
  Recovery kit  ${printable(recoveryKit)}

`;
}

async function savedText(
  { snapshot, bytesUploaded, durationMs }: ArchiveSummary,
  { named, target }: { readonly named: readonly string[]; readonly target: Target },
  { out, env }: Context,
): Promise<string> {
  const { counts, errors, errorsMore } = snapshot.record;
  const { bold, yellow } = createStyles(wantsColor(out.stream, env));
  const { place, run, option } = target;
  const { recoveryKit } = statePaths(env);
  const problems = errors.length + errorsMore;
  const lines = [
    `${bold('Saved')} ${count(counts.files, 'file')} (${formatBytes(counts.bytes)}) from ${printable(named.map(quoted).join(', '))} in ${formatDuration(durationMs)}.`,
    `  Snapshot      ${shortId(snapshot.id)}`,
    `  Newly stored  ${formatBytes(bytesUploaded)}, compressed and encrypted`,
    `  Repository    ${printable(shownLocation(place.location))}`,
  ];
  if (problems > 0)
    lines.push('', yellow(`${count(problems, 'problem')} (listed above): everything else is backed up.`));
  if (place.how === 'embedded' && (await exists(recoveryKit))) {
    lines.push(
      '',
      `${bold('Keep your recovery kit somewhere else')}, on paper or in a password manager:`,
      `  ${printable(recoveryKit)}`,
      'Without it, nobody can open the backups if this machine is lost. When you have done so, delete',
      'the file to stop this reminder. The repository is on this machine as well. For a backup that survives',
      `its loss, create one on another drive: ${run} init -r DIR`,
    );
  }
  lines.push(
    '',
    bold('What next'),
    `  ${run} snapshots${option}                        list the snapshots`,
    `  ${run} ls${option} latest ${printable(quoted(firstPath(snapshot)))}`,
    `  ${run} restore${option} latest --target DIR      restore everything into DIR`,
  );
  return `${lines.join('\n')}\n`;
}

function firstPath({ record }: ArchiveSummary['snapshot']): string {
  return Buffer.from(record.paths[0] ?? '/', 'latin1').toString('utf8');
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

function howToBegin({ env, out }: Context): string {
  const { bold } = createStyles(wantsColor(out.stream, env));
  return `${bold('Name a directory to back up:')}

  ${holdfast`start --source ~/Documents`}

The first start creates an encrypted repository and a recovery kit, backs up the directory, and shows
how to get everything back. All commands: ${holdfast`help`}
`;
}
